-- What a member may see of the feed is found by index: the events of nags they received, and of nags they made. So an event
-- names the nag's creator as well, beside its recipient; neither ever changes.
ALTER TABLE nag_events ADD COLUMN creator_id uuid;
UPDATE nag_events e SET creator_id = n.creator_id FROM nags n WHERE n.family_id = e.family_id AND n.id = e.nag_id;

-- For servers of before, which do not name the creator. A nag and its first event are one statement, in which the event may
-- come first: whoever made it is in the event then, or in the nag that comes before in the series.
CREATE FUNCTION name_creator_of_nag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT n.creator_id INTO NEW.creator_id FROM nags n WHERE n.family_id = NEW.family_id AND n.id = NEW.nag_id;
    IF NEW.creator_id IS NULL AND NEW.event_type = 'nag_created' THEN
        SELECT n.creator_id INTO NEW.creator_id FROM nags n
        WHERE n.family_id = NEW.family_id AND n.id = (NEW.payload->>'parent_nag_id')::uuid;
        NEW.creator_id := coalesce(NEW.creator_id, NEW.actor_id);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER creator_of_nag BEFORE INSERT ON nag_events
    FOR EACH ROW WHEN (NEW.creator_id IS NULL) EXECUTE FUNCTION name_creator_of_nag();

CREATE INDEX nag_events_received ON nag_events (family_id, recipient_id, sync_ts, id);
CREATE INDEX nag_events_sent ON nag_events (family_id, creator_id, sync_ts, id) WHERE creator_id <> recipient_id;

-- How many changes of nags somebody made on a day, how many they completed, and how many consents of a type they gave.
CREATE INDEX changes_of_actor ON nag_events (family_id, actor_id, at) WHERE event_type IN
    ('nag_updated', 'nag_snoozed', 'nag_committed', 'nag_dismissed', 'nag_undismissed');
CREATE INDEX completions_of_actor ON nag_events (family_id, actor_id, at) WHERE event_type = 'nag_completed';
CREATE INDEX consents_of_family ON consents (family_id, id);
CREATE INDEX consents_of_user ON consents (user_id, consent_type, granted_at);

-- While the zone was changed within 24 hours, limits of a day count those 24 hours: another midnight gives nobody more.
ALTER TABLE families ADD COLUMN time_zone_changed_at timestamptz;
