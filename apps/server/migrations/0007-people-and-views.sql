-- People who sign in with a password, and who watched what.

create table person (
  id uuid primary key,
  user_id uuid not null references account,
  name text not null unique,        -- lower case
  password_hash text not null,      -- $scrypt$ln=..,r=..,p=..$salt$hash
  created_at bigint not null,
  last_seen bigint
);
create index person_of_account on person (user_id, created_at);

-- A session is a key's or a person's.
alter table dashboard_session alter column api_key_id drop not null;
alter table dashboard_session add column person_id uuid references person on delete cascade;
alter table dashboard_session add constraint dashboard_session_of_one check (num_nonnulls(api_key_id, person_id) = 1);
create index dashboard_session_of_person on dashboard_session (person_id) where person_id is not null;

-- Idempotency keys belong to whoever sent them, and are forgotten after a day.
alter table idempotent_request drop constraint idempotent_request_api_key_id_fkey;

create table view_hour (
  playback_id text not null,
  hour bigint not null,             -- its begin, ms
  project_id uuid not null references project,
  user_id uuid not null references account,
  stream_id uuid not null references stream,
  asset_id uuid,                    -- of a recording
  view_count bigint not null default 0,
  playtime_ms bigint not null default 0,
  errors bigint not null default 0,     -- players that told one
  heartbeats bigint not null default 0, -- of players that tell
  primary key (playback_id, hour)
);
create index view_hour_of_project on view_hour (project_id, hour);

create table viewer_count (
  node_id uuid not null references node on delete cascade,
  playback_id text not null,
  project_id uuid not null references project,
  user_id uuid not null references account,
  stream_id uuid not null references stream,
  asset_id uuid,
  viewers integer not null,
  told_at bigint not null,          -- older ones count no more
  primary key (node_id, playback_id)
);
create index viewer_count_of_account on viewer_count (user_id);
