import Audit
import Contract
import Domain
import SQL

/// The secrets of devices that an account has signed in on.
///
/// A sign-in with a device's secret counts against that device's limit alone. So strangers who use up the account's
/// other attempts do not lock the device out, whatever its network address is. A secret has 256 random bits, is stored
/// as a digest, and replaces no password: a thief may guess no more often than from a network address of their own.
enum DeviceSecrets {
    /// The time for which a secret is accepted after the last sign-in with it.
    static let lifetime = Timestamp.Span.days(365)
    /// The maximum number of secrets of an account. Beyond it, secrets without a second sign-in are deleted first, then
    /// the ones unused for longest.
    static let maxSecretsPerAccount = 20

    static func make(_ random: any Randomness) -> Secret { Secret(Tokens.makeRefreshToken(random)) }

    static func hash(_ secret: Secret) -> [UInt8] { sha256(Array("device secret\n\(secret.wireText)".utf8)) }
}

/// Every statement on device secrets.
enum DeviceSecretStatements {
    /// A condition: the account `u` has an unexpired secret with that hash; false if the hash is nil.
    static func isKnown(_ hash: [UInt8]?, at now: Timestamp) -> SQL {
        guard let hash else { return "false" }
        return """
            EXISTS (SELECT 1 FROM device_secrets s WHERE s.secret_hash = \(hash) AND s.user_id = u.id
                    AND s.last_used_at > \(now - DeviceSecrets.lifetime))
            """
    }

    /// Parts of an act: store a secret, and delete the secrets beyond the limit.
    static func insert(_ hash: [UInt8], of user: UserID, in session: SessionID, at now: Timestamp) -> [SQL] {
        [
            """
            INSERT INTO device_secrets (secret_hash, user_id, session_id, created_at, last_used_at)
            SELECT \(hash), \(user), \(session), \(now), \(now) FROM ledger_stamp
            """,
            """
            DELETE FROM device_secrets USING ledger_stamp WHERE secret_hash IN (
                SELECT secret_hash FROM device_secrets WHERE user_id = \(user)
                ORDER BY last_used_at > created_at DESC, last_used_at DESC, secret_hash
                OFFSET \(DeviceSecrets.maxSecretsPerAccount - 1))
            """,
        ]
    }

    /// Part of an act: records that a session began with the secret.
    static func markUsed(_ hash: [UInt8], of user: UserID, in session: SessionID, at now: Timestamp) -> SQL {
        """
        UPDATE device_secrets SET session_id = \(session), last_used_at = \(now) FROM ledger_stamp
        WHERE secret_hash = \(hash) AND user_id = \(user)
        """
    }

    /// Part of an act: deletes the person's secrets, except that of one session.
    static func deleteAll(of user: UserID, except session: SessionID? = nil) -> SQL {
        """
        DELETE FROM device_secrets USING ledger_stamp WHERE user_id = \(user) AND session_id IS DISTINCT FROM \(session)
        """
    }

    /// Part of an act: deletes the secret of one session.
    static func delete(of user: UserID, in session: SessionID) -> SQL {
        "DELETE FROM device_secrets USING ledger_stamp WHERE user_id = \(user) AND session_id = \(session)"
    }

    /// Deletes at most `count` secrets whose lifetime has ended.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM device_secrets WHERE secret_hash IN (
            SELECT secret_hash FROM device_secrets WHERE last_used_at <= \(now - DeviceSecrets.lifetime)
            ORDER BY last_used_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
