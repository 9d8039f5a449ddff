-- expand
-- The latest batch that each writer has written. One whose COMMIT got no answer is sent again under its number, and not written twice.
create table written_batch (
  writer uuid primary key,
  number bigint not null,
  written_at bigint not null
);
