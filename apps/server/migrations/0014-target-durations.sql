-- EXT-X-TARGETDURATION of a session's live playlists, which may not change while they live, and what it would have had to be for the keyframes
-- that came: the stream's next session begins with that. Sessions so far had 4.
alter table session add column target_duration smallint not null default 4;
alter table session add column needed_target_duration smallint;
