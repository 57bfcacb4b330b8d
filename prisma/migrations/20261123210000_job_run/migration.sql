-- When each background job last began. Its advisory lock says whether it runs now.
CREATE TABLE job_run (
  name            text PRIMARY KEY,
  last_started_at timestamptz NOT NULL,
  -- Runs since the last that succeeded, the current one included.
  failures        integer NOT NULL
);
