import Domain
import HTTP
import SQL

/// Addresses from which an account was signed in to, or a session of it renewed, within the last ninety days.
///
/// From there a password may be tried whatever strangers have tried elsewhere, or from the same address at other accounts:
/// only the tries from that address at that account count. What is kept is keyed with the server's token keys, so that
/// nobody who reads the table learns an address.
enum KnownAddresses {
    static let memory = Timestamp.Span.days(90)

    /// What an account and an address are kept as, by each key, the newest first.
    static func hashes(_ email: String, _ network: RemoteAddress.Network?, _ tokens: Tokens) -> [[UInt8]] {
        tokens.keyedHashes(of: "known address\n\(email)\n\(network?.description ?? "")")
    }
}

/// Every statement on known addresses.
enum KnownAddressStatements {
    /// The condition that one of the hashes is an address that the account `u` is known at.
    static func isKnown(_ hashes: [[UInt8]], at now: Timestamp) -> SQL {
        """
        EXISTS (SELECT 1 FROM known_addresses k WHERE k.user_id = u.id AND k.address_hash = ANY(\(SQLList(hashes)))
                AND k.last_used_at > \(now - KnownAddresses.memory))
        """
    }

    /// A statement of an act.
    static func remember(_ hash: [UInt8], of user: UserID, at now: Timestamp) -> SQL {
        """
        INSERT INTO known_addresses (user_id, address_hash, last_used_at) SELECT \(user), \(hash), \(now) FROM ledger_stamp
        ON CONFLICT (user_id, address_hash) DO UPDATE SET last_used_at = excluded.last_used_at
        """
    }

    /// A statement of an act.
    static func delete(of user: UserID) -> SQL {
        "DELETE FROM known_addresses USING ledger_stamp WHERE user_id = \(user)"
    }

    /// Deletes at most `count` that were not used for long.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM known_addresses WHERE (user_id, address_hash) IN (
            SELECT user_id, address_hash FROM known_addresses WHERE last_used_at <= \(now - KnownAddresses.memory)
            ORDER BY last_used_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
