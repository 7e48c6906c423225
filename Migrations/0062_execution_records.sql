-- One honest record for each question: where none was sent there is no route, an id names one question, and a declined
-- confirmation tells what was declined.
-- lock: ai_executions_of_question: a second for a million questions; writes of questions wait that long, reads do not.

ALTER TABLE ai_executions
    -- Null for a question that the router sent nowhere.
    ALTER COLUMN route DROP NOT NULL,
    -- Keyed: of the question and its settings. Null without a question_id, and in earlier rows.
    ADD COLUMN question_digest bytea;
ALTER TABLE ai_executions
    ADD CONSTRAINT ai_executions_question_digest_check CHECK (length(question_digest) = 32) NOT VALID;
CREATE INDEX ai_executions_of_question ON ai_executions (family_id, user_id, question_id)
    WHERE question_id IS NOT NULL;

ALTER TABLE ai_confirmations
    -- Whether a constraint asks for it, and whether it sends the question further than the device.
    ADD COLUMN of_constraint boolean NOT NULL DEFAULT true,
    ADD COLUMN of_fallback boolean NOT NULL DEFAULT false,
    -- The API's ExecutionRecord of the question that waits; null in earlier rows, and for somebody without a family.
    ADD COLUMN record json;
