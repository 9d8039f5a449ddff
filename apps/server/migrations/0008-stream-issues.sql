-- What is wrong with a live stream, with evidence and remedy; null when nothing is, and when the stream is not live.
alter table stream add column issues jsonb;
alter table stream drop column transcode_issue;
