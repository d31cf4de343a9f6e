-- What the control plane keeps beside the log. Times are microseconds since 1970.

-- Until when `owner` holds the project; NULL when it was released, or taken without a lease.
ALTER TABLE project ADD COLUMN lease INTEGER;
-- The last record that was archived: what is in the table `record` goes on from its hash.
ALTER TABLE project ADD COLUMN base INTEGER NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN base_hash BLOB NOT NULL
  DEFAULT x'0000000000000000000000000000000000000000000000000000000000000000';

CREATE INDEX project_owner ON project (owner) WHERE owner IS NOT NULL;

CREATE TABLE replica (
  id      TEXT    PRIMARY KEY,
  address TEXT    NOT NULL,
  seen    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a request with a key of its own was answered with, so that it is done once.
CREATE TABLE answer (
  project    INTEGER NOT NULL,
  key        BLOB    NOT NULL,
  at         INTEGER NOT NULL,
  deployment BLOB,
  revision   INTEGER,
  PRIMARY KEY (project, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX answer_at ON answer (project, at);

CREATE TABLE content (
  project INTEGER NOT NULL,
  digest  BLOB    NOT NULL,
  bytes   BLOB    NOT NULL,
  UNIQUE (project, digest)
) STRICT;

-- Tokens are known by the hash of their secret only. Each bit of `scopes` is one scope.
CREATE TABLE token (
  id      TEXT    PRIMARY KEY,
  name    TEXT    NOT NULL,
  hash    BLOB    NOT NULL UNIQUE,
  scopes  INTEGER NOT NULL,
  project TEXT,
  created INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER
) STRICT, WITHOUT ROWID;

-- `noted` counts the deliveries that were ever noted; `key` is sealed.
CREATE TABLE webhook (
  project  INTEGER NOT NULL,
  name     TEXT    NOT NULL,
  position INTEGER,
  key      BLOB,
  noted    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery (
  project      INTEGER NOT NULL,
  webhook      TEXT    NOT NULL,
  number       INTEGER NOT NULL,
  record       INTEGER NOT NULL,
  attempt      INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  outcome      INTEGER NOT NULL,
  event        TEXT    NOT NULL,
  detail       TEXT    NOT NULL,
  milliseconds INTEGER NOT NULL,
  PRIMARY KEY (project, webhook, number)
) STRICT, WITHOUT ROWID;

-- Nothing asks for it, and what is asked for instead is the newest, of all services or of one.
DROP INDEX deployment_revision;
CREATE INDEX deployment_seq ON deployment (project, seq);
CREATE INDEX deployment_service ON deployment (project, service, seq);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('project', 'project_owner', '1000 100'),
  ('answer', 'answer', '1000000 100000 1'),
  ('answer', 'answer_at', '1000000 100000 1 1'),
  ('delivery', 'delivery', '100000 10000 1000 1'),
  ('deployment', 'deployment_seq', '100000 10000 1 1'),
  ('deployment', 'deployment_service', '100000 10000 1000 1 1');
