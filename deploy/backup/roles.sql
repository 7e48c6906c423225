-- What nagz needs in a fresh cluster before a dump is restored, as a superuser: pg_dump holds no roles. Then give the two logins
-- the passwords of database.env and owner.env: \password nagz, \password nagz_serve.
CREATE ROLE nagz_server NOLOGIN;
CREATE ROLE nagz LOGIN NOCREATEROLE;
CREATE ROLE nagz_serve LOGIN;
GRANT nagz_server TO nagz, nagz_serve;
-- Lets the server's metrics tell how far standbys are behind.
GRANT pg_read_all_stats TO nagz;
CREATE DATABASE nagz OWNER nagz;
