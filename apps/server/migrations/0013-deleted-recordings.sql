-- When the bytes and index rows of a deleted recording are removed; null when there is nothing left of it to remove.
alter table session add column purge_at bigint;
create index session_purging on session (purge_at) where purge_at is not null;
