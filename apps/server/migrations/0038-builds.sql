-- expand
-- The newest migration that the node's build knows, and the build: one that takes away what older builds use waits until they are gone.
alter table node add column schema_level integer, add column build text;
