-- Events, webhooks and views are about a subject: a stream, an asset (a recording is one, by the id of its session) or a task. The id alone
-- stays the key, for no two kinds share one. Everything so far was about streams, but for the views of recordings.

alter table stream_sequence rename to event_sequence;
alter index stream_sequence_pkey rename to event_sequence_pkey;
alter table event_sequence drop constraint stream_sequence_stream_id_fkey;
alter table event_sequence rename column stream_id to subject_id;
alter table event_sequence add column subject_kind text not null default 'stream' check (subject_kind in ('stream', 'asset', 'task'));
alter table event_sequence alter column subject_kind drop default;

alter table event_lifecycle rename column stream_id to subject_id;
alter table event_lifecycle add column subject_kind text not null default 'stream' check (subject_kind in ('stream', 'asset', 'task'));
alter table event_lifecycle alter column subject_kind drop default;

alter table event_telemetry rename column stream_id to subject_id;
alter table event_telemetry add column subject_kind text not null default 'stream' check (subject_kind in ('stream', 'asset', 'task'));
alter table event_telemetry alter column subject_kind drop default;

alter table webhook_delivery rename column stream_id to subject_id;
alter table webhook_delivery add column subject_kind text not null default 'stream' check (subject_kind in ('stream', 'asset', 'task'));
alter table webhook_delivery alter column subject_kind drop default;

alter table webhook_queue rename column stream_id to subject_id;
alter table webhook_queue add column subject_kind text not null default 'stream' check (subject_kind in ('stream', 'asset', 'task'));
alter table webhook_queue alter column subject_kind drop default;

alter table view_hour drop constraint view_hour_stream_id_fkey;
alter table view_hour rename column stream_id to subject_id;
alter table view_hour add column subject_kind text not null default 'stream' check (subject_kind in ('stream', 'asset', 'task'));
alter table view_hour alter column subject_kind drop default;
update view_hour set subject_kind = 'asset', subject_id = asset_id where asset_id is not null;
alter table view_hour drop column asset_id;

alter table viewer_count drop constraint viewer_count_stream_id_fkey;
alter table viewer_count rename column stream_id to subject_id;
alter table viewer_count add column subject_kind text not null default 'stream' check (subject_kind in ('stream', 'asset', 'task'));
alter table viewer_count alter column subject_kind drop default;
update viewer_count set subject_kind = 'asset', subject_id = asset_id where asset_id is not null;
alter table viewer_count drop column asset_id;
