-- Streams that the server gets from their sources. Wanted: started, and neither terminated nor at its end. The node that has the lease pulls, as long as
-- it runs. The version changes with the source, and with every start.
alter table stream
  add column pull_wanted boolean not null default false,
  add column pull_version bigint not null default 0,
  add column pull_node_id uuid,
  add column pull_status jsonb;
create index stream_to_pull on stream (id) where pull_wanted;
-- To find the stream of a source.
create index stream_with_source on stream (project_id) where pull is not null;
