/// The cache's schema as a list of migrations. A released migration never changes; new ones are appended.
///
/// Other tables refer to a family by a small number, IDs are sixteen bytes and times microseconds, which halves the
/// file. `generation` separates the rows of a full resync from older ones. People's words are sealed: each `BLOB`
/// column that is not an ID has sealed text. Words that nothing on the device reads are not stored.
enum CacheSchema {
    static let migrations = [
        """
        CREATE TABLE families (
            key              INTEGER PRIMARY KEY,
            id               BLOB NOT NULL UNIQUE,
            -- Where the feed is read on from, by either contract.
            cursor           TEXT,
            since            INTEGER,
            -- When the feed was last read to its end, by this device's clock.
            synced_at        INTEGER,
            pruned_at        INTEGER,
            generation       INTEGER NOT NULL DEFAULT 0,
            -- Whether a full resync is under way: rows of an older generation go when it is through.
            is_refetching    INTEGER NOT NULL DEFAULT 0,
            -- How far this device's clock is ahead of the server's.
            clock_ahead      INTEGER,
            time_zone        TEXT,
            max_push_back    INTEGER,
            cooldown_minutes INTEGER,
            allows_mediation INTEGER
        ) STRICT;

        CREATE TABLE nags (
            family          INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            id              BLOB NOT NULL,
            creator_id      BLOB NOT NULL,
            recipient_id    BLOB NOT NULL,
            due_at          INTEGER NOT NULL,
            category        TEXT NOT NULL,
            done_definition TEXT NOT NULL,
            description     TEXT,
            status          TEXT NOT NULL,
            created_at      INTEGER NOT NULL,
            committed_at    INTEGER,
            -- When it came to its end, as far as this device knows.
            closed_at       INTEGER,
            generation      INTEGER NOT NULL,
            PRIMARY KEY (family, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX nags_by_due ON nags (family, due_at);

        -- What events are full of (people, types) is kept once and named by a small number. The types that the rules ask for
        -- have fixed ones.
        CREATE TABLE words (
            key   INTEGER PRIMARY KEY,
            value ANY NOT NULL UNIQUE
        ) STRICT;
        INSERT INTO words VALUES (1, 'nag_missed'), (2, 'excuse_submitted'), (3, 'nag_updated'), (4, 'push_back');

        CREATE TABLE nag_events (
            family     INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            id         BLOB NOT NULL,
            nag_id     BLOB NOT NULL,
            type       INTEGER NOT NULL REFERENCES words,
            actor      INTEGER NOT NULL REFERENCES words,
            -- Whose nag it is, where the feed says so.
            recipient  INTEGER REFERENCES words,
            at         INTEGER NOT NULL,
            payload    TEXT NOT NULL,
            generation INTEGER NOT NULL,
            PRIMARY KEY (family, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX misses ON nag_events (family, recipient, at) WHERE type = 1;
        CREATE INDEX excuses ON nag_events (family, actor, at) WHERE type = 2;
        CREATE INDEX edits ON nag_events (family, nag_id, at) WHERE type = 3;

        CREATE TABLE mediations (
            family      INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            id          BLOB NOT NULL,
            nag_id      BLOB NOT NULL,
            prompt_type INTEGER NOT NULL REFERENCES words,
            tone        INTEGER NOT NULL REFERENCES words,
            summary     TEXT NOT NULL,
            at          INTEGER NOT NULL,
            generation  INTEGER NOT NULL,
            PRIMARY KEY (family, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX push_backs ON mediations (family, nag_id, at) WHERE prompt_type = 4;

        CREATE TABLE gamification (
            family       INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            id           BLOB NOT NULL,
            user         INTEGER NOT NULL REFERENCES words,
            type         INTEGER NOT NULL REFERENCES words,
            delta_points INTEGER NOT NULL,
            streak_delta INTEGER NOT NULL,
            at           INTEGER NOT NULL,
            generation   INTEGER NOT NULL,
            PRIMARY KEY (family, id)
        ) STRICT, WITHOUT ROWID;

        -- Who is who, what they prefer, and the sums of their past.
        CREATE TABLE members (
            family           INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            user_id          BLOB NOT NULL,
            display_name     TEXT,
            role             TEXT NOT NULL,
            status           TEXT NOT NULL,
            time_zone        TEXT NOT NULL,
            quiet_start      TEXT,
            quiet_end        TEXT,
            push_back_mode   TEXT NOT NULL,
            allows_on_device INTEGER NOT NULL,
            streak           INTEGER NOT NULL,
            PRIMARY KEY (family, user_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE resolved (
            family    INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            user_id   BLOB NOT NULL,
            category  TEXT NOT NULL,
            total     INTEGER NOT NULL,
            completed INTEGER NOT NULL,
            PRIMARY KEY (family, user_id, category)
        ) STRICT, WITHOUT ROWID;

        -- Where the latest answer of each operation came from, and why.
        CREATE TABLE answers (
            operation    TEXT PRIMARY KEY,
            place        TEXT NOT NULL,
            reason       TEXT NOT NULL,
            at           INTEGER NOT NULL,
            microseconds INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- Most payloads are a few codes that many events have alike: such a one is a word as well.
        CREATE TABLE smaller_events (
            family     INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            id         BLOB NOT NULL,
            nag_id     BLOB NOT NULL,
            type       INTEGER NOT NULL REFERENCES words,
            actor      INTEGER NOT NULL REFERENCES words,
            -- Whose nag it is, where the feed says so.
            recipient  INTEGER REFERENCES words,
            at         INTEGER NOT NULL,
            -- The payload if it holds codes alone, else the payload.
            codes      INTEGER REFERENCES words,
            payload    TEXT CHECK ((payload IS NULL) = (codes IS NOT NULL)),
            generation INTEGER NOT NULL,
            PRIMARY KEY (family, id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO smaller_events (family, id, nag_id, type, actor, recipient, at, payload, generation)
            SELECT family, id, nag_id, type, actor, recipient, at, payload, generation FROM nag_events;
        DROP TABLE nag_events;
        ALTER TABLE smaller_events RENAME TO nag_events;
        CREATE INDEX misses ON nag_events (family, recipient, at) WHERE type = 1;
        CREATE INDEX excuses ON nag_events (family, actor, at) WHERE type = 2;
        CREATE INDEX edits ON nag_events (family, nag_id, at) WHERE type = 3;
        -- A family's nags are few enough to look at each.
        DROP INDEX nags_by_due;

        -- The server's audit log: the highest checkpoint it has shown this device.
        CREATE TABLE log (
            origin    TEXT PRIMARY KEY,
            size      INTEGER NOT NULL,
            -- The checkpoint as it was signed, and the keys it may be signed with, one a line.
            note      TEXT NOT NULL,
            keys      TEXT NOT NULL,
            is_pinned INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """,
        """
        ALTER TABLE members ADD COLUMN tone TEXT NOT NULL DEFAULT 'friendly';
        -- Missed nags stay as long as their events from now on: the next sync fetches everything again.
        UPDATE families SET cursor = NULL, since = NULL;
        """,
        """
        -- The constraints that the person's questions obey, each as the server sent it.
        CREATE TABLE constraints (
            family INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            id     BLOB NOT NULL,
            terms  TEXT NOT NULL,
            PRIMARY KEY (family, id)
        ) STRICT, WITHOUT ROWID;
        -- What the person has chosen for their questions, as the server sent it; null before the next sync.
        ALTER TABLE families ADD COLUMN choices TEXT;
        -- What exists already comes with the next sync, which fetches everything again.
        UPDATE families SET cursor = NULL, since = NULL;
        """,
        """
        -- Words of people are sealed from now on. What was stored in plain is deleted, and comes with the next sync.
        DELETE FROM families;
        DELETE FROM words WHERE key > 4;
        ALTER TABLE nags DROP COLUMN description;
        ALTER TABLE nags ADD COLUMN description BLOB;
        -- Nothing on the device reads the summaries.
        ALTER TABLE mediations DROP COLUMN summary;
        ALTER TABLE members DROP COLUMN display_name;
        ALTER TABLE members ADD COLUMN display_name BLOB;
        ALTER TABLE constraints DROP COLUMN terms;
        ALTER TABLE constraints ADD COLUMN terms BLOB NOT NULL DEFAULT x'';

        -- A text that the key of this file has sealed; there is none before the file was written anew without what was
        -- deleted.
        CREATE TABLE seal (box BLOB NOT NULL) STRICT;

        -- The questions that this device answered or refused by itself, each as the history has it.
        CREATE TABLE executions (
            family   INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            id       BLOB NOT NULL,
            at       INTEGER NOT NULL,
            is_error INTEGER NOT NULL,
            record   BLOB NOT NULL,
            PRIMARY KEY (family, at, id)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        DROP INDEX push_backs;
        -- The push-backs that count towards a nag's limits, as the server counts them: the feed has only what the device's
        -- person asked themselves.
        CREATE TABLE push_backs (
            family INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            nag_id BLOB NOT NULL,
            at     INTEGER NOT NULL,
            -- Whether it is of the nag's current due cycle.
            counts INTEGER NOT NULL,
            PRIMARY KEY (family, nag_id, at)
        ) STRICT, WITHOUT ROWID;
        -- An earlier server sent what others had asked: the next sync fetches everything again.
        DELETE FROM mediations;
        UPDATE families SET cursor = NULL, since = NULL;
        """,
        """
        -- What the server can have questions answered by, as it said; null before it said it.
        ALTER TABLE families ADD COLUMN providers TEXT;
        -- Answers that this device gave before it heard that the consent had been withdrawn.
        ALTER TABLE executions ADD COLUMN is_after_withdrawal INTEGER NOT NULL DEFAULT 0;
        -- The latest attempts to reach the server that brought no answer, since it last answered.
        CREATE TABLE contact_faults (at INTEGER NOT NULL, is_of_connection INTEGER NOT NULL) STRICT;
        -- The last questions that went on from each other, and their answers.
        CREATE TABLE session_turns (
            family INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            id     BLOB NOT NULL,
            at     INTEGER NOT NULL,
            turn   BLOB NOT NULL,
            PRIMARY KEY (family, at, id)
        ) STRICT, WITHOUT ROWID;
        """,
        """
        -- When an instance of a series can be completed first; null for other nags.
        ALTER TABLE nags ADD COLUMN opens_at INTEGER;
        -- Those that are here already come again with the next sync.
        UPDATE families SET cursor = NULL, since = NULL;
        """,
        """
        -- Constraints that the person made for this device alone: no sync takes them away, and no server hears of them.
        CREATE TABLE own_constraints (
            family INTEGER NOT NULL REFERENCES families ON DELETE CASCADE,
            id     BLOB NOT NULL PRIMARY KEY,
            terms  BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- The weekdays of missed nags that the person was told of, as a list; null where they want no alerts.
        ALTER TABLE families ADD COLUMN told_patterns TEXT DEFAULT '';
        """,
    ]
}
