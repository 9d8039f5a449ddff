-- expand
-- A stream's own image in place of the last picture.
alter table stream drop constraint stream_slate_check;
alter table stream add constraint stream_slate_check check (slate in ('last-picture', 'image'));

-- In a table of its own, because streams are listed often.
create table slate_image (
  stream_id uuid primary key references stream on delete cascade,
  -- A PNG or JPEG.
  image bytea not null
);
