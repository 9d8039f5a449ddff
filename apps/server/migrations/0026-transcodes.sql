-- What a `transcode-file` task reads and writes, with its credentials: deleted when the task is completed or can no longer be retried.
create table transcode (
  id uuid primary key references task on delete cascade, -- of the task
  project_id uuid not null references project,
  request jsonb not null,                 -- as it came
  attempt integer not null default 1,     -- rises when the owner retries
  broken_runs integer not null default 0, -- of this attempt
  created_at bigint not null
);
create index transcode_of_project on transcode (project_id);
