-- Times are bigint milliseconds since the Unix epoch, of the server's clock; only leases use the database's own clock (timestamptz).
-- Every row names its project and the account that made it; every query of the API filters by project.

create table account (
  id uuid primary key,
  name text not null,
  suspended boolean not null default false,
  created_at bigint not null
);

create table project (
  id uuid primary key,
  user_id uuid not null references account,
  name text not null,
  created_at bigint not null
);

create table api_key (
  id uuid primary key,
  project_id uuid not null references project,
  user_id uuid not null references account,
  name text not null,
  prefix text not null,           -- shown to tell keys apart
  hash bytea not null unique,     -- SHA-256 of the key; the key itself is stored nowhere
  created_at bigint not null,
  last_used_at bigint
);

create table dashboard_session (
  hash bytea primary key,         -- SHA-256 of the cookie's token
  api_key_id uuid not null references api_key on delete cascade,
  project_id uuid not null references project,
  user_id uuid not null references account,
  created_at bigint not null,
  expires_at bigint not null
);
create index dashboard_session_expiry on dashboard_session (expires_at);

create table node (
  id uuid primary key,
  name text not null unique,      -- stays the same across restarts, so a booting node finds what it held before
  region text not null,
  roles text[] not null,
  state text not null check (state in ('joining', 'serving', 'draining', 'gone')),
  epoch bigint not null default 1,
  joined_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
) with (fillfactor = 50);

create table stream (
  id uuid primary key,
  project_id uuid not null references project,
  user_id uuid not null references account,
  created_by_token_name text,
  name text not null,
  creator_id text,
  user_tags jsonb,
  stream_key text not null unique,
  playback_id text not null unique,
  playback_policy jsonb,
  profiles jsonb not null,
  record boolean not null,
  recording_spec jsonb,
  targets jsonb not null default '[]',
  pull jsonb,
  created_at bigint not null,
  suspended boolean not null default false,
  deleted_at bigint,
  last_terminated_at bigint,
  -- its "now"
  state text not null default 'idle' check (state in ('idle', 'live', 'reconnecting')),
  state_since bigint not null,
  reconnect_until bigint,
  session_id uuid,                -- the open session
  epoch bigint not null default 0, -- of the latest publish grant: the lease
  node_id uuid,                   -- that the grant was given to
  -- counters over all time, and the rates of now
  last_seen bigint not null default 0,
  source_segments bigint not null default 0,
  source_segments_duration double precision not null default 0,
  source_bytes bigint not null default 0,
  transcoded_segments bigint not null default 0,
  transcoded_segments_duration double precision not null default 0,
  transcoded_bytes bigint not null default 0,
  ingest_rate double precision not null default 0,
  outgoing_rate double precision not null default 0
) with (fillfactor = 60);
create index stream_of_project on stream (project_id, created_at desc) where deleted_at is null;
create index stream_active on stream (id) where state <> 'idle';

create table multistream_target (
  id uuid primary key,
  project_id uuid not null references project,
  user_id uuid not null references account,
  name text not null,
  url text not null,              -- may hold a secret; never shown
  disabled boolean not null default false,
  created_at bigint not null
);
create index multistream_target_of_project on multistream_target (project_id, created_at desc);

create table session (
  id uuid primary key,
  project_id uuid not null references project,
  user_id uuid not null references account,
  stream_id uuid not null references stream,
  name text not null,
  profiles jsonb not null,
  record boolean not null,
  recording_spec jsonb,
  created_at bigint not null,
  ended_at bigint,                -- null while live
  -- where the timeline may go on from
  epoch bigint not null,
  next_msn bigint not null default 1,
  discontinuity_sequence bigint not null default 0,
  end_ticks bigint not null default 0,
  -- the recording
  recording text not null check (recording in ('none', 'waiting', 'ready', 'failed', 'deleted')),
  recording_playback_id text unique,
  recording_error text,
  settle_at bigint,               -- when to look whether the recording is complete
  -- counters
  last_seen bigint not null,
  source_segments bigint not null default 0,
  source_segments_duration double precision not null default 0,
  source_bytes bigint not null default 0,
  transcoded_segments bigint not null default 0,
  transcoded_segments_duration double precision not null default 0,
  transcoded_bytes bigint not null default 0,
  ingest_rate double precision not null default 0,
  outgoing_rate double precision not null default 0
) with (fillfactor = 60);
create unique index session_open on session (stream_id) where ended_at is null;
create index session_of_stream on session (stream_id, created_at desc);
create index session_of_project on session (project_id, created_at desc);
create index session_settling on session (id) where recording = 'waiting' and ended_at is not null;

create table recording_rendition (
  session_id uuid not null references session on delete cascade,
  project_id uuid not null,
  user_id uuid not null,
  rendition text not null,
  track jsonb not null,
  primary key (session_id, rendition)
);

-- Which bytes of which span are which segment. Written once; a row told twice (after a crash) is ignored.
create table recording_segment (
  session_id uuid not null references session on delete cascade,
  project_id uuid not null,
  user_id uuid not null,
  rendition text not null,
  msn bigint not null,
  epoch bigint not null,
  start_ticks bigint not null,
  duration_ticks bigint not null,
  program_date_time bigint not null,
  discontinuity boolean not null,
  gap boolean not null,
  init text not null,
  span text not null,
  byte_offset bigint not null,
  byte_length bigint not null,
  primary key (session_id, rendition, msn)
);

create table recording_span (
  session_id uuid not null references session on delete cascade,
  project_id uuid not null,
  user_id uuid not null,
  rendition text not null,
  span text not null,
  epoch bigint not null,
  bytes bigint not null,
  sealed_at bigint not null,
  primary key (session_id, rendition, span)
);

-- One ordered log per stream, in two tables that share the stream's sequence: lifecycle is kept for months, telemetry for days.
-- The sequence row's lock is taken last in a transaction, streams in the order of their ids.
create table stream_sequence (
  stream_id uuid primary key references stream on delete cascade,
  seq bigint not null default 0
) with (fillfactor = 50);

create table event_lifecycle (
  stream_id uuid not null,
  seq bigint not null,
  at bigint not null,
  project_id uuid not null,
  user_id uuid not null,
  type text not null,
  v integer not null,
  data jsonb not null,
  primary key (stream_id, seq, at)
) partition by range (at);

create table event_telemetry (
  stream_id uuid not null,
  seq bigint not null,
  at bigint not null,
  project_id uuid not null,
  user_id uuid not null,
  type text not null,
  v integer not null,
  data jsonb not null,
  primary key (stream_id, seq, at)
) partition by range (at);
