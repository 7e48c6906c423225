-- Names are kept without white space around them, without control characters, and in Unicode's composed form, as new ones are.

CREATE FUNCTION pg_temp.tidy(name text) RETURNS text LANGUAGE sql IMMUTABLE RETURN
    nullif(regexp_replace(
        regexp_replace(normalize(name, NFC), '[[:cntrl:]]', '', 'g'), '^[\s\u00A0]+|[\s\u00A0]+$', '', 'g'), '');

UPDATE users SET display_name = left(pg_temp.tidy(display_name), 255)
WHERE display_name IS DISTINCT FROM left(pg_temp.tidy(display_name), 255);

UPDATE families SET name = coalesce(left(pg_temp.tidy(name), 255), 'Family')
WHERE name <> coalesce(left(pg_temp.tidy(name), 255), 'Family');

-- A child whose name would be another's of the family keeps it as it is, until a guardian sets one.
UPDATE child_credentials k SET username = pg_temp.tidy(k.username)
WHERE k.username <> pg_temp.tidy(k.username) AND length(pg_temp.tidy(k.username)) <= 64
    AND NOT EXISTS (
        SELECT FROM child_credentials o WHERE o.family_id = k.family_id AND o.user_id <> k.user_id
            AND lower(pg_temp.tidy(o.username)) = lower(pg_temp.tidy(k.username)));

DROP FUNCTION pg_temp.tidy(text);
