-- One append in one call: the row of the project is locked first, so that the appends of a project
-- follow each other, and its epoch and head are compared under that lock. An array per column
-- carries the records (r_), targets (t_), spans (s_) and deployments (d_).
CREATE OR REPLACE FUNCTION seaway_append(
  p_name TEXT, p_epoch BIGINT,
  r_seq BIGINT[], r_at BIGINT[], r_deployment BYTEA[], r_target BIGINT[], r_revision BIGINT[],
  r_kind BIGINT[], r_fact BIGINT[], r_attempt BIGINT[], r_n BIGINT[], r_outcome BIGINT[],
  r_data TEXT[], r_cause BIGINT[], r_by TEXT[], r_hash BYTEA[],
  t_id BIGINT[], t_parent BIGINT[], t_part TEXT[], t_path TEXT[], t_place BIGINT[],
  t_since BIGINT[], t_place_path TEXT[],
  s_edit BIGINT[], s_place BIGINT[], s_deployment BYTEA[], s_seq BIGINT[], s_revision BIGINT[],
  s_service TEXT[], s_ending BIGINT[],
  d_id BYTEA[], d_service TEXT[], d_version TEXT[], d_revision BIGINT[], d_seq BIGINT[]
) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  log project%ROWTYPE;
  edit RECORD;
  last INTEGER := cardinality(r_seq);
BEGIN
  SELECT * INTO log FROM project WHERE name = p_name FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'SW004', MESSAGE = 'unknown project';
  ELSIF log.epoch <> p_epoch THEN
    RAISE EXCEPTION USING ERRCODE = 'SW001', MESSAGE = 'fenced', DETAIL = log.epoch::text;
  ELSIF r_seq[1] <> log.head + 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'SW002', MESSAGE = 'position', DETAIL = (log.head + 1)::text;
  ELSIF r_at[1] < log.at THEN
    RAISE EXCEPTION USING ERRCODE = 'SW003', MESSAGE = 'time goes back';
  END IF;

  INSERT INTO record (project, seq, at, deployment, target, revision, kind, fact, attempt, n,
    outcome, data, cause, "by", hash)
  SELECT log.id, * FROM unnest(r_seq, r_at, r_deployment, r_target, r_revision, r_kind, r_fact,
    r_attempt, r_n, r_outcome, r_data, r_cause, r_by, r_hash);

  IF cardinality(t_id) > 0 THEN
    INSERT INTO target (project, id, parent, part, path, place, since, place_path)
    SELECT log.id, * FROM unnest(t_id, t_parent, t_part, t_path, t_place, t_since, t_place_path);
  END IF;

  IF cardinality(d_id) > 0 THEN
    INSERT INTO deployment (project, id, service, version, revision, seq)
    SELECT log.id, * FROM unnest(d_id, d_service, d_version, d_revision, d_seq);
  END IF;

  FOR edit IN
    SELECT * FROM unnest(s_edit, s_place, s_deployment, s_seq, s_revision, s_service, s_ending)
      WITH ORDINALITY AS e (edit, place, deployment, seq, revision, service, ending, number)
    ORDER BY number
  LOOP
    PERFORM seaway_edit_span(log.id, edit.edit, edit.place, edit.deployment, edit.seq,
      edit.revision, edit.service, edit.ending);
  END LOOP;

  UPDATE project SET head = r_seq[last], hash = r_hash[last], at = r_at[last] WHERE id = log.id;
END $$;

-- Edit 1 opens a span, 2 closes it, 3 closes it with an ending that has a latest revision, and 4
-- opens it again.
CREATE OR REPLACE FUNCTION seaway_edit_span(
  p BIGINT, e_edit BIGINT, e_place BIGINT, e_deployment BYTEA, e_seq BIGINT, e_revision BIGINT,
  e_service TEXT, e_ending BIGINT
) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  IF e_edit = 1 THEN
    INSERT INTO span (project, place, deployment, opened, revision, service)
    SELECT p, e_place, e_deployment, e_seq, e_revision, e_service WHERE NOT EXISTS
      (SELECT 1 FROM span WHERE project = p AND place = e_place AND deployment = e_deployment
       AND closed IS NULL);
  ELSIF e_edit = 2 THEN
    UPDATE span SET closed = e_seq, ending = e_ending
    WHERE project = p AND place = e_place AND deployment = e_deployment AND closed IS NULL;
  ELSIF e_edit = 3 THEN
    UPDATE span s SET closed = e_seq, ending = e_ending,
      best = coalesce(
        (SELECT b.closed FROM span b WHERE b.project = p AND b.place = e_place
         AND b.ending = e_ending AND b.revision > s.revision AND b.closed =
           (SELECT l.best FROM span l WHERE l.project = p AND l.place = e_place
            AND l.ending = e_ending ORDER BY l.closed DESC LIMIT 1)), e_seq),
      best_of_service = coalesce(
        (SELECT b.closed FROM span b WHERE b.project = p AND b.place = e_place
         AND b.service = s.service AND b.ending = e_ending AND b.revision > s.revision
         AND b.closed =
           (SELECT l.best_of_service FROM span l WHERE l.project = p AND l.place = e_place
            AND l.service = s.service AND l.ending = e_ending AND l.closed IS NOT NULL
            ORDER BY l.closed DESC LIMIT 1)), e_seq)
    WHERE project = p AND place = e_place AND deployment = e_deployment AND closed IS NULL;
  ELSE
    INSERT INTO span (project, place, deployment, opened, revision, service)
    SELECT s.project, s.place, s.deployment, e_seq, s.revision, s.service FROM
      (SELECT * FROM span WHERE project = p AND place = e_place AND deployment = e_deployment
       ORDER BY opened DESC LIMIT 1) s WHERE s.closed IS NOT NULL;
  END IF;
END $$;
