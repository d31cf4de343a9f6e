-- Spans are kept of the pipeline, of stages, groups and members only: those of sequences (whose part
-- has a run number) and of tasks (below them) were most of what an append wrote.
DELETE FROM span WHERE EXISTS
  (SELECT 1 FROM target t LEFT JOIN target above
     ON above.project = t.project AND above.id = t.parent
   WHERE t.project = span.project AND t.id = span.place
     AND (t.part LIKE '%#%' OR above.part LIKE '%#%'));

-- What belongs to one service lies together, and only what has ended is in it: a delivery touches
-- few pages of the index, however many services and deployments there are. What is open at a place
-- is found by the index over endings.
DROP INDEX span_service;
CREATE INDEX span_service ON span (project, service, place, ending, closed, opened)
  WHERE closed IS NOT NULL;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('span', 'span_service', '1000000 100000 1000 500 60 1 1');
