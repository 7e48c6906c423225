"""Migrations that migrations.py must refuse, and some that it must not, each applied to the same few tables."""
import sys
import unittest

import migrations

BEFORE = """
CREATE TABLE pets (
    id uuid PRIMARY KEY, name text NOT NULL DEFAULT '', kind text CONSTRAINT kinds CHECK (kind IN ('cat', 'dog')),
    age integer CONSTRAINT ages CHECK (age < 30), owner uuid);
CREATE TABLE people (id uuid PRIMARY KEY);
CREATE INDEX pets_of_owner ON pets (owner);
CREATE VIEW cats AS SELECT id FROM pets WHERE kind = 'cat';
CREATE FUNCTION older(age integer) RETURNS integer LANGUAGE sql RETURN age + 1;
CREATE FUNCTION feed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER fed BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION feed();
GRANT SELECT, INSERT ON pets TO nagz_server;
"""

REFUSED = {
    "DROP TABLE people": ["people"],
    "ALTER TABLE people RENAME TO persons": ["people"],
    "DROP VIEW cats": ["cats"],
    "ALTER TABLE pets DROP COLUMN age": ["pets.age"],
    "ALTER TABLE pets RENAME COLUMN age TO years": ["pets.age", "pets.ages"],
    "ALTER TABLE pets ALTER COLUMN owner SET NOT NULL": ["pets.owner"],
    "ALTER TABLE pets ADD COLUMN colour text NOT NULL": ["pets.colour"],
    "ALTER TABLE pets ALTER COLUMN name DROP DEFAULT": ["pets.name"],
    "ALTER TABLE pets ALTER COLUMN age TYPE bigint": ["pets", "pets.age"],
    "ALTER TABLE pets ADD COLUMN seen timestamptz DEFAULT clock_timestamp()": ["pets"],
    "ALTER TABLE pets DROP CONSTRAINT kinds, ADD CONSTRAINT kinds CHECK (kind IN ('cat', 'hen')) NOT VALID": ["pets.kinds"],
    "ALTER TABLE pets DROP CONSTRAINT kinds, ADD CONSTRAINT kinds CHECK (kind IN ('cat')) NOT VALID": ["pets.kinds"],
    "ALTER TABLE pets DROP CONSTRAINT ages, ADD CONSTRAINT ages CHECK (age < 20) NOT VALID": ["pets.ages"],
    "ALTER TABLE pets ADD CONSTRAINT named CHECK (name <> '') NOT VALID": ["pets.named"],
    "ALTER TABLE pets ADD CONSTRAINT owned FOREIGN KEY (owner) REFERENCES people NOT VALID": ["pets.owned"],
    "ALTER TABLE pets ADD COLUMN tail integer, ADD CONSTRAINT tails CHECK (tail < 2)": ["pets.tails"],
    "CREATE UNIQUE INDEX one_name ON pets (name)": ["one_name", "one_name"],
    "ALTER TABLE pets ADD COLUMN tag integer DEFAULT 0; CREATE UNIQUE INDEX one_tag ON pets (tag, name)": ["one_tag", "one_tag"],
    "CREATE INDEX pets_by_age ON pets (age)": ["pets_by_age"],
    "DROP INDEX pets_of_owner": ["pets_of_owner"],
    "DROP INDEX pets_of_owner; CREATE INDEX pets_of_owner ON pets (owner, age)": ["pets_of_owner", "pets_of_owner"],
    "DROP FUNCTION older": ["older(integer)"],
    "DROP FUNCTION older; CREATE FUNCTION older(age integer) RETURNS bigint LANGUAGE sql RETURN age::bigint": ["older(integer)"],
    "DROP TRIGGER fed ON pets": ["pets.fed"],
    "REVOKE INSERT ON pets FROM nagz_server": ["INSERT on pets of nagz_server"],
    "REVOKE EXECUTE ON FUNCTION older FROM PUBLIC": ["EXECUTE on older(integer) of everybody"],
    "ALTER TABLE pets ENABLE ROW LEVEL SECURITY": ["pets"],
    "CREATE POLICY own ON pets USING (owner IS NULL)": ["pets.own"],
    "-- contract: pets.age: nobody uses it\nALTER TABLE pets DROP COLUMN age": ["pets.age"],
    "-- lock: pets.age: not the right word\nALTER TABLE pets DROP COLUMN age": ["pets.age", "pets.age"],
    "-- contract: pets.colour: not used since 0.2.0\nSELECT 1": ["pets.colour"],
}

ACCEPTED = [
    "CREATE TABLE toys (id uuid PRIMARY KEY, name text NOT NULL CHECK (name <> ''), pet uuid REFERENCES pets)",
    "CREATE TABLE toys (id uuid PRIMARY KEY); CREATE UNIQUE INDEX one_toy ON toys (id)",
    "ALTER TABLE pets ADD COLUMN colour text",
    "ALTER TABLE pets ADD COLUMN colour text NOT NULL DEFAULT 'black'",
    "ALTER TABLE pets ADD COLUMN colour text, ADD CONSTRAINT colours CHECK (colour <> '') NOT VALID",
    "ALTER TABLE pets ALTER COLUMN name DROP NOT NULL",
    "ALTER TABLE pets DROP CONSTRAINT kinds, ADD CONSTRAINT kinds CHECK (kind IN ('cat', 'dog', 'hen')) NOT VALID",
    "ALTER TABLE pets DROP CONSTRAINT ages",
    "CREATE OR REPLACE FUNCTION older(age integer) RETURNS integer LANGUAGE sql RETURN age + 2",
    "GRANT UPDATE ON pets TO nagz_server",
    "-- contract: pets.age: not used since 0.2.0\nALTER TABLE pets DROP COLUMN age",
    "-- lock: one_tag: a site has a hundred pets\n"
    "ALTER TABLE pets ADD COLUMN tag integer; CREATE UNIQUE INDEX one_tag ON pets (tag, name)",
    "-- lock: pets_by_age: a site has a hundred pets\nCREATE INDEX pets_by_age ON pets (age)",
]


class MigrationsTest(unittest.TestCase):
    def objects(self, sql):
        before, after = migrations.apply(sql, prepare=BEFORE, end="ROLLBACK")
        return [complaint.split(": ")[0] for complaint in migrations.judge(before, after, sql)]

    def test_refused(self):
        for sql, objects in REFUSED.items():
            with self.subTest(sql):
                self.assertEqual(sorted(self.objects(sql)), objects)

    def test_accepted(self):
        for sql in ACCEPTED:
            with self.subTest(sql):
                self.assertEqual(self.objects(sql), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
