-- What is wrong with the transcoding of a live stream, as a sentence; null when nothing is known to be. Cleared when the stream is not live.
alter table stream add column transcode_issue text;
