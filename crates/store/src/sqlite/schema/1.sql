-- Numbers in `kind`, `fact` and `outcome` stand for the words in the tables of the same names; the
-- view `log` spells everything out. Times are microseconds since 1970.

CREATE TABLE project (
  id    INTEGER PRIMARY KEY,
  name  TEXT    NOT NULL UNIQUE,
  epoch INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  head  INTEGER NOT NULL DEFAULT 0,
  hash  BLOB    NOT NULL DEFAULT (zeroblob(32)),
  at    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE record (
  project    INTEGER NOT NULL,
  seq        INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  deployment BLOB,
  target     INTEGER NOT NULL,
  revision   INTEGER,
  kind       INTEGER NOT NULL,
  fact       INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  n          INTEGER NOT NULL,
  outcome    INTEGER,
  data       TEXT,
  cause      INTEGER,
  "by"       TEXT    NOT NULL,
  hash       BLOB    NOT NULL,
  PRIMARY KEY (project, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX record_key ON record (project, deployment, target, kind, fact, attempt, n)
  WHERE deployment IS NOT NULL;
CREATE UNIQUE INDEX record_key_alone ON record (project, target, kind, fact, attempt, n)
  WHERE deployment IS NULL;

-- `place` is the first target with the same path without run numbers, and only that target has a
-- `place_path`, which is that path.
CREATE TABLE target (
  project    INTEGER NOT NULL,
  id         INTEGER NOT NULL,
  parent     INTEGER NOT NULL,
  part       TEXT    NOT NULL,
  path       TEXT    NOT NULL,
  place      INTEGER NOT NULL,
  since      INTEGER NOT NULL,
  place_path TEXT,
  PRIMARY KEY (project, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX target_path ON target (project, path);
CREATE UNIQUE INDEX target_place ON target (project, place_path) WHERE place_path IS NOT NULL;

CREATE TABLE deployment (
  project  INTEGER NOT NULL,
  id       BLOB    NOT NULL,
  service  TEXT    NOT NULL,
  version  TEXT    NOT NULL,
  revision INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  PRIMARY KEY (project, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX deployment_version ON deployment (project, service, version, revision);
CREATE INDEX deployment_revision ON deployment (project, revision);

-- The time that a deployment spends at a place. `closed` and `ending` are set when it ends. `best`
-- is the `closed` of the span with the highest revision among those that had ended the same way at
-- the place by then, and `best_of_service` the same among the spans of its service.
CREATE TABLE span (
  project         INTEGER NOT NULL,
  place           INTEGER NOT NULL,
  deployment      BLOB    NOT NULL,
  opened          INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  service         TEXT    NOT NULL,
  closed          INTEGER,
  ending          INTEGER,
  best            INTEGER,
  best_of_service INTEGER,
  PRIMARY KEY (project, place, deployment, opened)
) STRICT, WITHOUT ROWID;

CREATE INDEX span_ending ON span (project, place, ending, closed, opened);
CREATE INDEX span_service ON span (project, place, service, ending, closed, opened);

-- A checkpoint counts once it has a row here; its pieces are written before.
CREATE TABLE checkpoint (
  project      INTEGER NOT NULL,
  seq          INTEGER NOT NULL,
  hash         BLOB    NOT NULL,
  state_digest BLOB    NOT NULL,
  length       INTEGER NOT NULL,
  set_aside    TEXT,
  PRIMARY KEY (project, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint_piece (
  project INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  number  INTEGER NOT NULL,
  bytes   BLOB    NOT NULL,
  UNIQUE (project, seq, number)
) STRICT;

CREATE TABLE kind    (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE fact    (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE outcome (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE VIEW log AS
SELECT p.name AS project,
       r.seq,
       strftime('%Y-%m-%dT%H:%M:%S', r.at / 1000000, 'unixepoch')
         || printf('.%06dZ', r.at % 1000000) AS at,
       CASE WHEN r.deployment IS NOT NULL THEN
         lower(substr(hex(r.deployment), 1, 8) || '-' || substr(hex(r.deployment), 9, 4) || '-'
         || substr(hex(r.deployment), 13, 4) || '-' || substr(hex(r.deployment), 17, 4) || '-'
         || substr(hex(r.deployment), 21))
       END AS deployment,
       d.service,
       d.version,
       t.path AS target,
       r.revision,
       k.name AS kind,
       f.name AS fact,
       r.attempt,
       r.n,
       o.name AS outcome,
       r.data,
       r.cause,
       r."by",
       lower(hex(r.hash)) AS hash
FROM record r
JOIN project p ON p.id = r.project
JOIN target t ON t.project = r.project AND t.id = r.target
JOIN kind k ON k.id = r.kind
JOIN fact f ON f.id = r.fact
LEFT JOIN outcome o ON o.id = r.outcome
LEFT JOIN deployment d ON d.project = r.project AND d.id = r.deployment;

-- The planner guesses wrongly about tables that nobody has analysed. These numbers describe a log
-- of some size: rows in all, then rows per value of the first column, of the first two, and so on.
ANALYZE;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('record', 'record', '10000000 1000000 1'),
  ('record', 'record_key', '10000000 1000000 200 8 4 2 1 1'),
  ('record', 'record_key_alone', '1000 100 10 5 2 1 1'),
  ('target', 'target', '1000000 100000 1'),
  ('target', 'target_path', '1000000 100000 1'),
  ('target', 'target_place', '10000 1000 1'),
  ('deployment', 'deployment', '100000 10000 1'),
  ('deployment', 'deployment_version', '100000 10000 1000 1 1'),
  ('deployment', 'deployment_revision', '100000 10000 1'),
  ('span', 'span', '1000000 100000 1000 1 1'),
  ('span', 'span_ending', '1000000 100000 1000 300 1 1'),
  ('span', 'span_service', '1000000 100000 1000 200 60 1 1');
