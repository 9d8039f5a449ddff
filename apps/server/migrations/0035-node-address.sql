-- Where other nodes reach this one, an IP address and a port; null where they do not.
alter table node add column address text;
