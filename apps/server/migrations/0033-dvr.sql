-- How far viewers can go back in a live stream: minutes, or 0 for the whole session. The session has what applied when it began, in seconds.
alter table stream add column dvr_minutes integer;
alter table session add column dvr_seconds integer;
