-- A notification is of a nag's event, or of something that happened to a connection, in whose ledger it is then.
ALTER TABLE deliveries
    ALTER COLUMN nag_id DROP NOT NULL,
    ALTER COLUMN nag_event_id DROP NOT NULL,
    ADD COLUMN connection_event text,
    -- Every row that is there has a nag, so that there is nothing to scan.
    ADD CONSTRAINT deliveries_have_cause CHECK (
        CASE WHEN connection_event IS NULL THEN nag_id IS NOT NULL AND nag_event_id IS NOT NULL
             ELSE connection_event IN ('connection_invited', 'connection_accepted')
                 AND nag_id IS NULL AND nag_event_id IS NULL END) NOT VALID;
