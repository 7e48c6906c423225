-- The export of an account finds the notes and the connections of a person by index.
CREATE INDEX notes_of_actor ON nag_events (family_id, actor_id, id) WHERE event_type = 'note_added';
CREATE INDEX connections_of_inviter ON connections (inviter_id);
