-- Whether the uploaded or fetched file stays in the object store when the asset is ready, and is offered for download. Null for clips, and for
-- assets of earlier versions, whose owners were not asked.
alter table asset add column keep_original boolean;
-- Files that nobody keeps: removed when their asset is ready.
create index asset_with_unwanted_original on asset (id) where phase = 'ready' and not keep_original and source_key is not null;
-- An original may hold a place and a device's serial number: with this, only owner tokens give it, which API keys create.
alter table project add column originals_for_keys_only boolean not null default false;
