-- Numbers in `kind`, `fact` and `outcome` stand for the words in the tables of the same names; the
-- view `log` spells everything out. Times are microseconds since 1970.

CREATE TABLE project (
  id    BIGINT  PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  name  TEXT COLLATE "C" NOT NULL UNIQUE,
  epoch BIGINT  NOT NULL DEFAULT 0,
  owner TEXT,
  head  BIGINT  NOT NULL DEFAULT 0,
  hash  BYTEA   NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
  at    BIGINT  NOT NULL DEFAULT 0
);

CREATE TABLE record (
  project    BIGINT  NOT NULL,
  seq        BIGINT  NOT NULL,
  at         BIGINT  NOT NULL,
  deployment BYTEA,
  target     BIGINT  NOT NULL,
  revision   BIGINT,
  kind       BIGINT  NOT NULL,
  fact       BIGINT  NOT NULL,
  attempt    BIGINT  NOT NULL,
  n          BIGINT  NOT NULL,
  outcome    BIGINT,
  data       TEXT,
  cause      BIGINT,
  "by"       TEXT    NOT NULL,
  hash       BYTEA   NOT NULL,
  PRIMARY KEY (project, seq)
);

CREATE UNIQUE INDEX record_key ON record (project, deployment, target, kind, fact, attempt, n)
  WHERE deployment IS NOT NULL;
CREATE UNIQUE INDEX record_key_alone ON record (project, target, kind, fact, attempt, n)
  WHERE deployment IS NULL;

-- `place` is the first target with the same path without run numbers, and only that target has a
-- `place_path`, which is that path.
CREATE TABLE target (
  project    BIGINT  NOT NULL,
  id         BIGINT  NOT NULL,
  parent     BIGINT  NOT NULL,
  part       TEXT    NOT NULL,
  path       TEXT    COLLATE "C" NOT NULL,
  place      BIGINT  NOT NULL,
  since      BIGINT  NOT NULL,
  place_path TEXT    COLLATE "C",
  PRIMARY KEY (project, id)
);

CREATE UNIQUE INDEX target_path ON target (project, path);
CREATE UNIQUE INDEX target_place ON target (project, place_path) WHERE place_path IS NOT NULL;

CREATE TABLE deployment (
  project  BIGINT  NOT NULL,
  id       BYTEA   NOT NULL,
  service  TEXT    NOT NULL,
  version  TEXT    NOT NULL,
  revision BIGINT  NOT NULL,
  seq      BIGINT  NOT NULL,
  PRIMARY KEY (project, id)
);

CREATE INDEX deployment_version ON deployment (project, service, version, revision);
CREATE INDEX deployment_revision ON deployment (project, revision);

-- The time that a deployment spends at a place. `closed` and `ending` are set when it ends. `best`
-- is the `closed` of the span with the highest revision among those that had ended the same way at
-- the place by then, and `best_of_service` the same among the spans of its service.
CREATE TABLE span (
  project         BIGINT  NOT NULL,
  place           BIGINT  NOT NULL,
  deployment      BYTEA   NOT NULL,
  opened          BIGINT  NOT NULL,
  revision        BIGINT  NOT NULL,
  service         TEXT    NOT NULL,
  closed          BIGINT,
  ending          BIGINT,
  best            BIGINT,
  best_of_service BIGINT,
  PRIMARY KEY (project, place, deployment, opened)
);

CREATE INDEX span_ending ON span (project, place, ending, closed, opened);
CREATE INDEX span_service ON span (project, place, service, ending, closed, opened);

-- A checkpoint counts once it has a row here; its pieces are written before.
CREATE TABLE checkpoint (
  project      BIGINT  NOT NULL,
  seq          BIGINT  NOT NULL,
  hash         BYTEA   NOT NULL,
  state_digest BYTEA   NOT NULL,
  length       BIGINT  NOT NULL,
  set_aside    TEXT,
  PRIMARY KEY (project, seq)
);

CREATE TABLE checkpoint_piece (
  project BIGINT  NOT NULL,
  seq     BIGINT  NOT NULL,
  number  BIGINT  NOT NULL,
  bytes   BYTEA   NOT NULL,
  UNIQUE (project, seq, number)
);

CREATE TABLE kind    (id BIGINT  PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE fact    (id BIGINT  PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE outcome (id BIGINT  PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE VIEW log AS
SELECT p.name AS project,
       r.seq,
       to_char(to_timestamp(r.at / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
         || '.' || lpad((r.at % 1000000)::text, 6, '0') || 'Z' AS at,
       encode(r.deployment, 'hex')::uuid AS deployment,
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
       encode(r.hash, 'hex') AS hash
FROM record r
JOIN project p ON p.id = r.project
JOIN target t ON t.project = r.project AND t.id = r.target
JOIN kind k ON k.id = r.kind
JOIN fact f ON f.id = r.fact
LEFT JOIN outcome o ON o.id = r.outcome
LEFT JOIN deployment d ON d.project = r.project AND d.id = r.deployment;
