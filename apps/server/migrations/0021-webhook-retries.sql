-- When a failed delivery is sent again; null after the last attempt.
alter table webhook_log add column retry_at bigint;
