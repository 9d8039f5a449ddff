-- The webhook context inside is passed on as it was written: jsonb would sort its keys.
alter table stream alter column playback_policy type json using playback_policy::json;
