-- How the ladder of a live stream is doing, as the media floor told it last; null without a ladder, and when the stream is not live.
alter table stream add column transcoding jsonb;
