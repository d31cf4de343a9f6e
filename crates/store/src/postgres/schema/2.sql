-- What the control plane keeps beside the log. Times are microseconds since 1970.

-- Until when `owner` holds the project; NULL when it was released, or taken without a lease.
ALTER TABLE project ADD COLUMN lease BIGINT;
-- The last record that was archived: what is in the table `record` goes on from its hash.
ALTER TABLE project ADD COLUMN base BIGINT NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN base_hash BYTEA NOT NULL DEFAULT decode(repeat('00', 32), 'hex');

CREATE INDEX project_owner ON project (owner) WHERE owner IS NOT NULL;

CREATE TABLE replica (
  id      TEXT    COLLATE "C" PRIMARY KEY,
  address TEXT    NOT NULL,
  seen    BIGINT  NOT NULL
);

-- What a request with a key of its own was answered with, so that it is done once.
CREATE TABLE answer (
  project    BIGINT  NOT NULL,
  key        BYTEA   NOT NULL,
  at         BIGINT  NOT NULL,
  deployment BYTEA,
  revision   BIGINT,
  PRIMARY KEY (project, key)
);

CREATE INDEX answer_at ON answer (project, at);

CREATE TABLE content (
  project BIGINT  NOT NULL,
  digest  BYTEA   NOT NULL,
  bytes   BYTEA   NOT NULL,
  UNIQUE (project, digest)
);

-- Tokens are known by the hash of their secret only. Each bit of `scopes` is one scope.
CREATE TABLE token (
  id      TEXT    COLLATE "C" PRIMARY KEY,
  name    TEXT    NOT NULL,
  hash    BYTEA   NOT NULL UNIQUE,
  scopes  BIGINT  NOT NULL,
  project TEXT,
  created BIGINT  NOT NULL,
  expires BIGINT,
  revoked BIGINT
);

-- `noted` counts the deliveries that were ever noted; `key` is sealed.
CREATE TABLE webhook (
  project  BIGINT  NOT NULL,
  name     TEXT    COLLATE "C" NOT NULL,
  position BIGINT,
  key      BYTEA,
  noted    BIGINT  NOT NULL DEFAULT 0,
  PRIMARY KEY (project, name)
);

CREATE TABLE delivery (
  project      BIGINT  NOT NULL,
  webhook      TEXT    COLLATE "C" NOT NULL,
  number       BIGINT  NOT NULL,
  record       BIGINT  NOT NULL,
  attempt      BIGINT  NOT NULL,
  at           BIGINT  NOT NULL,
  outcome      BIGINT  NOT NULL,
  event        TEXT    NOT NULL,
  detail       TEXT    NOT NULL,
  milliseconds BIGINT  NOT NULL,
  PRIMARY KEY (project, webhook, number)
);

-- Nothing asks for it, and what is asked for instead is the newest, of all services or of one.
DROP INDEX deployment_revision;
CREATE INDEX deployment_seq ON deployment (project, seq);
CREATE INDEX deployment_service ON deployment (project, service, seq);

-- An append with answers (a_) is an append without them and then the answers, in one call.
CREATE FUNCTION seaway_append(
  p_name TEXT, p_epoch BIGINT,
  r_seq BIGINT[], r_at BIGINT[], r_deployment BYTEA[], r_target BIGINT[], r_revision BIGINT[],
  r_kind BIGINT[], r_fact BIGINT[], r_attempt BIGINT[], r_n BIGINT[], r_outcome BIGINT[],
  r_data TEXT[], r_cause BIGINT[], r_by TEXT[], r_hash BYTEA[],
  t_id BIGINT[], t_parent BIGINT[], t_part TEXT[], t_path TEXT[], t_place BIGINT[],
  t_since BIGINT[], t_place_path TEXT[],
  s_edit BIGINT[], s_place BIGINT[], s_deployment BYTEA[], s_seq BIGINT[], s_revision BIGINT[],
  s_service TEXT[], s_ending BIGINT[],
  d_id BYTEA[], d_service TEXT[], d_version TEXT[], d_revision BIGINT[], d_seq BIGINT[],
  a_key BYTEA[], a_at BIGINT[], a_deployment BYTEA[], a_revision BIGINT[]
) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  PERFORM seaway_append(p_name, p_epoch, r_seq, r_at, r_deployment, r_target, r_revision, r_kind,
    r_fact, r_attempt, r_n, r_outcome, r_data, r_cause, r_by, r_hash, t_id, t_parent, t_part,
    t_path, t_place, t_since, t_place_path, s_edit, s_place, s_deployment, s_seq, s_revision,
    s_service, s_ending, d_id, d_service, d_version, d_revision, d_seq);
  INSERT INTO answer (project, key, at, deployment, revision)
  SELECT p.id, a.* FROM project p, unnest(a_key, a_at, a_deployment, a_revision) AS a
  WHERE p.name = p_name;
END $$;
