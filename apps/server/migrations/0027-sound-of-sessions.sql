-- The first audio track that came in a session: {codec, config}. Where its source, or the stream's next session, sends no sound, silence with this
-- configuration takes its place. Null for a session without sound.
alter table session add column sound jsonb;
