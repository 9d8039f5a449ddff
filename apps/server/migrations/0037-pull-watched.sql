-- Until when a stream with pull.onlyWhileWatched is pulled: a time after its last viewer was counted, or asked for it. Milliseconds.
alter table stream add column pull_watched_until bigint not null default 0;
