-- A clip names moments. Without this its segments would be searched in the whole recording, which may be a day long.
create index recording_segment_time on recording_segment (session_id, rendition, program_date_time);
