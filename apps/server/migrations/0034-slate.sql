-- What viewers see while the broadcaster may reconnect; null for nothing new.
alter table stream add column slate text check (slate in ('last-picture'));
