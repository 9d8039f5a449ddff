-- What all nodes on this database seal with, made by whichever of them needs it first.
create table server_secret (
  name text primary key,
  secret bytea not null,
  created_at bigint not null
);
