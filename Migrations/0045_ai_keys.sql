-- People's own keys for third parties' models, sealed with a key that is derived from the audit keyring's master key.

CREATE TABLE ai_keys (
    user_id      uuid NOT NULL REFERENCES users,
    provider     text NOT NULL CHECK (provider IN ('openai', 'anthropic', 'custom')),
    -- The base URL that the key is sent to; the seal is bound to it.
    endpoint     text NOT NULL CHECK (length(endpoint) BETWEEN 9 AND 500),
    model        text NOT NULL CHECK (length(model) BETWEEN 1 AND 200),
    schema_style text NOT NULL CHECK (schema_style IN ('json_schema', 'json_object', 'none')),
    tokens_field text NOT NULL CHECK (tokens_field IN ('max_tokens', 'max_completion_tokens')),
    -- The id of the master key.
    master       bytea NOT NULL CHECK (length(master) = 4),
    sealed       bytea NOT NULL,
    -- What the owner tells keys apart by: the last four characters.
    hint         text NOT NULL CHECK (length(hint) = 5),
    created_at   timestamptz NOT NULL,
    -- When the server last called the provider with it.
    used_at      timestamptz,
    PRIMARY KEY (user_id, provider)
);
GRANT SELECT, INSERT, DELETE ON ai_keys TO nagz_server;
GRANT UPDATE (endpoint, model, schema_style, tokens_field, master, sealed, hint, created_at, used_at) ON ai_keys TO nagz_server;

CREATE FUNCTION drop_ai_keys_of_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM ai_keys WHERE user_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER account_drops_ai_keys AFTER UPDATE OF status ON users
    FOR EACH ROW WHEN (NEW.status = 'deleted' AND OLD.status <> 'deleted') EXECUTE FUNCTION drop_ai_keys_of_account();
