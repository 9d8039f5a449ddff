-- Which of several processes is right. A stream's epoch is that of its owner: the grant whose media has begun. Grants are numbered before that.
alter table stream add column grant_epoch bigint not null default 0;
update stream set grant_epoch = epoch;
create index stream_of_node on stream (node_id) where state <> 'idle';

-- The owners of a session, one after another: a row of an earlier one does not count behind the begin of a later one.
create table session_epoch (
  session_id uuid not null references session on delete cascade,
  epoch bigint not null,
  node_id uuid not null,
  first_msn bigint not null,
  began_at bigint not null,
  primary key (session_id, epoch)
);
-- When next_msn and end_ticks were true.
alter table session add column position_at bigint;

-- The node whose spool has the bytes of an upload; null before the first.
alter table asset add column upload_node_id uuid;

-- The start of the process that has the name, and the data folder that it runs on, as no other machine names it.
alter table node add column start_id uuid, add column place text;
