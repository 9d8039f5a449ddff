-- Files that were uploaded or imported. Deletion stands beside the phase: a restored asset goes on where it was.
create table asset (
  id uuid primary key,
  project_id uuid not null references project,
  user_id uuid not null references account,
  created_by_token_name text,
  name text not null,
  creator_id text,
  playback_id text not null unique,
  playback_policy json,           -- as it was written: a webhook gets its context back byte for byte
  source jsonb not null,          -- as the API shows it
  profiles jsonb,                 -- null for the default ladder
  static_mp4 boolean,
  target_segment_seconds double precision,
  task_id uuid not null,
  created_at bigint not null,
  phase text not null check (phase in ('uploading', 'waiting', 'processing', 'ready', 'failed')),
  progress double precision not null default 0,
  updated_at bigint not null,
  error text,
  attempt integer not null default 1,     -- rises when the owner retries: its files go to a folder of its own
  broken_runs integer not null default 0, -- of this attempt, that broke off for a reason that may pass
  upload_expires_at bigint,
  source_key text,                -- of the file as it came, once it is whole and durable
  size bigint,
  hash jsonb,
  video_spec jsonb,
  playable_at bigint,
  deleted_at bigint,
  purge_at bigint
) with (fillfactor = 60);
create index asset_of_project on asset (project_id, updated_at desc);
create index asset_in_work on asset (updated_at) where phase in ('waiting', 'processing');
create index asset_uploading on asset (upload_expires_at) where phase = 'uploading';
create index asset_purging on asset (purge_at) where purge_at is not null;

-- What plays of an asset: written and read as a whole by its id.
create table asset_media (
  asset_id uuid primary key references asset on delete cascade,
  media jsonb not null
);

create table task (
  id uuid primary key,
  project_id uuid not null references project,
  user_id uuid not null references account,
  type text not null check (type in ('upload', 'transcode-file')),
  phase text not null check (phase in ('pending', 'waiting', 'running', 'completed', 'failed', 'cancelled')),
  progress double precision not null default 0,
  updated_at bigint not null,
  error text,
  retries integer not null default 0,
  created_at bigint not null,
  scheduled_at bigint,
  input_asset_id uuid,
  output_asset_id uuid,
  params jsonb not null,
  output jsonb
) with (fillfactor = 60);
create index task_of_project on task (project_id, created_at desc);
