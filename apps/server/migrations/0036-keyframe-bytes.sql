-- Where the first picture of the segment ends, in bytes from its start; null for sound, and where an earlier version recorded it.
alter table recording_segment add column keyframe_bytes integer;
