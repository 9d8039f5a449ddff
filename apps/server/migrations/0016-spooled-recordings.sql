-- When a node last said that parts of the recording wait in its spool: as long as it says so, the recording is not taken as it is.
alter table session add column spooled_at bigint;
