-- Webhooks, what waits to be delivered to them, and the log of their calls. Nothing here has a foreign key to webhook: the outbox is written
-- in the transactions of streams, which must not wait for whoever deletes a webhook. What is left of a deleted one is swept.

create table webhook (
  id uuid primary key,
  project_id uuid not null references project,
  user_id uuid not null references account,
  name text not null,
  url text not null,
  events text[] not null,
  stream_id text,                 -- only events of this stream; null: of all
  shared_secret text,             -- never shown
  created_at bigint not null,
  paused_at bigint,
  pause_reason text,
  failures integer not null default 0,  -- in a row
  last_triggered_at bigint,
  last_failure jsonb
) with (fillfactor = 70);
create index webhook_of_project on webhook (project_id, created_at desc);

-- One event for one webhook. Points at the event in the log; the body is made when it is sent.
create table webhook_delivery (
  id bigint generated always as identity primary key,
  webhook_id uuid not null,
  stream_id uuid not null,
  lane bigint not null default 0, -- 0: in order; else its own id, for it was tried for too long and waits beside the others
  seq bigint not null,
  event_at bigint not null,
  event text not null,
  created_at bigint not null,
  attempts integer not null default 0,
  first_tried_at bigint
) with (fillfactor = 80);
create index webhook_delivery_in_order on webhook_delivery (webhook_id, stream_id, lane, seq, id);
create index webhook_delivery_age on webhook_delivery (created_at);

-- One row for each webhook, stream and lane with deliveries: when its first one is due, and which worker has it. Its lock orders those who
-- add and those who take away.
create table webhook_queue (
  webhook_id uuid not null,
  stream_id uuid not null,
  lane bigint not null default 0,
  due_at bigint not null,
  claimed_by uuid,                -- a node
  claimed_until bigint not null default 0,
  primary key (webhook_id, stream_id, lane)
) with (fillfactor = 50);
create index webhook_queue_due on webhook_queue (due_at);

create table webhook_log (
  id uuid primary key,
  webhook_id uuid not null,
  project_id uuid not null,
  event text not null,
  created_at bigint not null,
  duration_ms integer not null,
  attempt integer not null,
  success boolean not null,
  url text not null,
  headers jsonb not null,
  body text not null,
  status integer,                 -- null without an answer
  status_text text,
  response bytea,
  error text
);
create index webhook_log_latest on webhook_log (webhook_id, created_at desc);
create index webhook_log_age on webhook_log (created_at);

-- What a replay looks for: events of a project that webhooks can be about.
create index event_lifecycle_for_webhooks on event_lifecycle (project_id, at) where type in ('stream_state', 'webhook_event');
create index event_telemetry_for_webhooks on event_telemetry (project_id, at) where type = 'webhook_event';
