-- How the multistream targets of a stream's session are doing; null while it is idle.
alter table stream add column target_states jsonb;
