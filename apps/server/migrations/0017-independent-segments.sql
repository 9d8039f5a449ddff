-- Whether the segment begins with an IDR; null where an earlier version recorded it and nobody knows.
alter table recording_segment add column independent boolean;
