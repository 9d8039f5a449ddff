-- Access rules and origins of API keys, projects that are deleted, and the answers to requests that may come twice.

alter table api_key add column access jsonb;         -- null: everything, from our own pages alone
create index api_key_of_project on api_key (project_id, created_at desc);

alter table project add column deleted_at bigint;
create index project_of_account on project (user_id, created_at) where deleted_at is null;

create table idempotent_request (
  api_key_id uuid not null references api_key on delete cascade,
  project_id uuid not null references project,
  user_id uuid not null references account,
  key text not null,                -- Idempotency-Key, chosen by the client
  fingerprint bytea not null,       -- SHA-256 of method, address and body
  created_at bigint not null,
  status integer,                   -- null while the first one is being answered
  body text,                        -- JSON; null for an answer without one, or with a secret
  primary key (api_key_id, key)
);
create index idempotent_request_age on idempotent_request (created_at);
