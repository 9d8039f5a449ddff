-- What a clip is cut from: a session's recording or another asset. The clip itself is an asset.
create table clip (
  asset_id uuid primary key references asset on delete cascade,
  project_id uuid not null references project,
  stream_id uuid,                 -- of the session
  session_id uuid,
  parent_asset_id uuid,
  from_ms bigint not null,        -- ms since the Unix epoch or, before 1973, since the begin of the media
  to_ms bigint,                   -- null for the end
  created_at bigint not null
);
create index clip_of_session on clip (session_id);
create index clip_of_stream on clip (stream_id);
create index clip_of_asset on clip (parent_asset_id);

alter table task drop constraint task_type_check;
alter table task add constraint task_type_check check (type in ('upload', 'transcode-file', 'clip'));
