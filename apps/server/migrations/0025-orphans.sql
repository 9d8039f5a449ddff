-- Files in the object store without a recording or an asset, and when they were first seen so.
create table orphan (
  prefix text primary key,
  seen_at bigint not null
);
