-- Bytes of the recording as one MP4; null until the media floor has laid it out.
alter table session add column mp4_bytes bigint;
