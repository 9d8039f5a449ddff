-- Viewers by kind of device, system, browser and country; '' where unknown.
alter table view_hour
  add column device_type text not null default '',
  add column os text not null default '',
  add column browser text not null default '',
  add column country text not null default '',
  -- Reports of players: players that reported, those that showed a picture, and sums in milliseconds.
  add column players bigint not null default 0,
  add column starts bigint not null default 0,
  add column ttff_ms bigint not null default 0,
  add column playing_ms bigint not null default 0,
  add column rebuffering_ms bigint not null default 0;
alter table view_hour drop constraint view_hour_pkey;
alter table view_hour add primary key (playback_id, hour, device_type, os, browser, country);

alter table viewer_count
  add column device_type text not null default '',
  add column os text not null default '',
  add column browser text not null default '',
  add column country text not null default '';
alter table viewer_count drop constraint viewer_count_pkey;
alter table viewer_count add primary key (node_id, playback_id, device_type, os, browser, country);

-- Media that was transcoded, in milliseconds of its source, by the hour.
create table usage_hour (
  subject_kind text not null check (subject_kind in ('stream', 'asset', 'task')),
  subject_id uuid not null,
  hour bigint not null,             -- its begin, ms
  project_id uuid not null references project,
  user_id uuid not null references account,
  transcoded_ms bigint not null default 0,
  primary key (subject_kind, subject_id, hour)
) with (fillfactor = 60);
create index usage_hour_of_project on usage_hour (project_id, hour);
