import Contract
import Domain
import NagzAI
import SQL

extension SchemaStyle: SQLBindable, SQLDecodable {}
extension TokensField: SQLBindable, SQLDecodable {}

/// Every statement on people's keys for models. A trigger deletes a person's keys when the account is deleted.
enum AIKeyStatements {
    private static let columns: SQL = """
        k.user_id, k.provider, k.endpoint, k.model, k.schema_style, k.tokens_field, k.master, k.sealed, k.hint,
        k.created_at, k.used_at
        """

    static func keys(of user: UserID) -> SQL {
        "SELECT \(columns) FROM ai_keys k WHERE k.user_id = \(user) ORDER BY k.provider"
    }

    static func key(of user: UserID, _ provider: KeyProvider) -> SQL {
        "SELECT \(columns) FROM ai_keys k WHERE k.user_id = \(user) AND k.provider = \(provider)"
    }

    /// Reads the facts that decide whether a member may use keys: the role, and whether the family allows models of
    /// third parties. No row for a person who is no active member.
    static func rights(of user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT m.role, coalesce(o.third_party_models, false) AS third_party_models FROM memberships m
        LEFT JOIN policies o ON o.family_id = m.family_id AND o.is_default AND o.status = 'active'
        WHERE m.family_id = \(family) AND m.user_id = \(user) AND m.status = 'active'
        """
    }

    /// Reads a person's keys without their secrets, for an export.
    static func exported(_ page: ExportPage) -> SQL {
        // Keys have no IDs. One page can hold all of a person's keys, so the owner's ID serves as the position.
        """
        SELECT k.user_id AS id, jsonb_build_object(
            'provider', k.provider, 'endpoint', k.endpoint, 'model', k.model, 'hint', k.hint,
            'created_at', \(ExportPage.moment("k.created_at")), 'last_used_at', \(ExportPage.moment("k.used_at")))::text AS json
        FROM ai_keys k WHERE k.user_id = \(page.user) AND k.user_id > \(page.after)
        ORDER BY k.provider LIMIT \(page.limit)
        """
    }

    /// Reads, for each master key in use, one of the keys that it sealed.
    static let oneKeyPerMaster: SQL = "SELECT DISTINCT ON (k.master) \(columns) FROM ai_keys k ORDER BY k.master"

    // MARK: Statements of an act

    /// Stores a key, and replaces an earlier one for the same provider.
    static func store(_ key: StoredAIKey) -> SQL {
        """
        INSERT INTO ai_keys (user_id, provider, endpoint, model, schema_style, tokens_field, master, sealed, hint, created_at)
        SELECT \(key.user), \(key.response.provider), \(key.response.endpoint), \(key.response.model), \(key.response.schemaStyle),
               \(key.response.tokensField), \(key.masterID), \(key.sealedSecret), \(key.response.hint), \(key.response.createdAt)
        FROM ledger_stamp
        ON CONFLICT (user_id, provider) DO UPDATE SET
            endpoint = excluded.endpoint, model = excluded.model, schema_style = excluded.schema_style,
            tokens_field = excluded.tokens_field, master = excluded.master, sealed = excluded.sealed,
            hint = excluded.hint, created_at = excluded.created_at, used_at = NULL
        """
    }

    static func delete(of user: UserID, _ provider: KeyProvider) -> SQL {
        "DELETE FROM ai_keys USING ledger_stamp WHERE ai_keys.user_id = \(user) AND ai_keys.provider = \(provider)"
    }

    // MARK: Use

    /// Records that the provider was called with the key, unless another key has replaced it.
    static func markUsed(_ key: StoredAIKey, at now: Timestamp) -> SQL {
        """
        UPDATE ai_keys SET used_at = \(now)
        WHERE user_id = \(key.user) AND provider = \(key.response.provider) AND sealed = \(key.sealedSecret)
        """
    }

    // MARK: Rotation of the master key

    /// Returns a query for keys that were sealed by another master key.
    static func keysSealedByOthers(than masterID: [UInt8], _ limit: Int64) -> SQL {
        "SELECT \(columns) FROM ai_keys k WHERE k.master <> \(masterID) ORDER BY k.user_id, k.provider LIMIT \(limit)"
    }

    /// Replaces the sealed secret of a key, unless the key has been replaced in the meantime.
    static func replaceSealedSecret(of old: StoredAIKey, with new: StoredAIKey) -> SQL {
        """
        UPDATE ai_keys SET master = \(new.masterID), sealed = \(new.sealedSecret)
        WHERE user_id = \(old.user) AND provider = \(old.response.provider) AND sealed = \(old.sealedSecret)
        """
    }
}
