-- How many days recordings of a stream, and an asset, are kept; null for as long as the server's setting says.
alter table stream add column retention_days integer;
alter table asset add column retention_days integer;
create index session_kept on session (ended_at) where recording in ('ready', 'failed');
create index asset_kept on asset (created_at) where deleted_at is null;
