-- A key that may sign in to all projects of its account. Only keys that Weir itself makes at its start are, never one made through the API.
alter table api_key add column account_wide boolean not null default false;
-- The first key came in the same moment as its account. The key of WEIR_API_KEY follows at the next start.
update api_key k set account_wide = true
  from account a where a.id = k.user_id and k.created_at = a.created_at and k.access is null;

-- Keys with rules or origins no longer sign in.
delete from dashboard_session d using api_key k
  where k.id = d.api_key_id
    and (k.access ? 'rules' or jsonb_array_length(coalesce(k.access #> '{cors,allowedOrigins}', '[]')) > 0);
