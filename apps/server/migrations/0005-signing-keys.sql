-- Keys whose tokens open playback. Of a pair the public half alone is kept.
create table signing_key (
  id uuid primary key,
  project_id uuid not null references project,
  user_id uuid not null references account,
  name text not null,
  public_key text not null,          -- base64 of the PEM text, as tokens name it in `pub`
  disabled boolean not null default false,
  created_at bigint not null,
  last_seen bigint                   -- last time that a token of it was let in, exact to a minute
);
create index signing_key_of_project on signing_key (project_id, created_at desc);
