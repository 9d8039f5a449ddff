-- Where people reach this server while WEIR_PUBLIC_URL is unset: one row.
create table public_address (
  id smallint primary key check (id = 1),
  used text,
  pinned text
);
