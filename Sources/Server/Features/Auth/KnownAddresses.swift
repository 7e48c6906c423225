import Domain
import HTTP
import SQL

/// The network addresses from which an account signed up, signed in, or refreshed a session within the last 90 days.
///
/// For a sign-in from a known address, only the attempts from that address at that account count. So a person can sign
/// in from there even if strangers have used up the limits from other addresses, or from that one at other accounts.
/// Addresses are stored as digests keyed with the server's token keys, so that the table reveals none.
enum KnownAddresses {
    /// The time for which an address is known after its last use.
    static let lifetime = Timestamp.Span.days(90)

    /// Returns the keyed hashes of an email address with a network address, one for each token key, the newest key's
    /// first.
    static func hashes(_ email: String, _ network: RemoteAddress.Network?, _ tokens: Tokens) -> [[UInt8]] {
        tokens.keyedHashes(of: "known address\n\(email)\n\(network?.description ?? "")")
    }
}

/// Every statement on known addresses.
enum KnownAddressStatements {
    /// A condition: the account `u` has used an address with one of these hashes within `KnownAddresses.lifetime`.
    static func isKnown(_ hashes: [[UInt8]], at now: Timestamp) -> SQL {
        """
        EXISTS (SELECT 1 FROM known_addresses k WHERE k.user_id = u.id AND k.address_hash = ANY(\(SQLList(hashes)))
                AND k.last_used_at > \(now - KnownAddresses.lifetime))
        """
    }

    /// Part of an act: records that the account has used an address.
    static func insert(_ hash: [UInt8], of user: UserID, at now: Timestamp) -> SQL {
        """
        INSERT INTO known_addresses (user_id, address_hash, last_used_at)
        SELECT \(user), \(hash), \(now) FROM ledger_stamp
        ON CONFLICT (user_id, address_hash) DO UPDATE SET last_used_at = excluded.last_used_at
        """
    }

    /// Part of an act: deletes all known addresses of the account.
    static func deleteAll(of user: UserID) -> SQL {
        "DELETE FROM known_addresses USING ledger_stamp WHERE user_id = \(user)"
    }

    /// Deletes at most `count` addresses whose lifetime has ended.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM known_addresses WHERE (user_id, address_hash) IN (
            SELECT user_id, address_hash FROM known_addresses WHERE last_used_at <= \(now - KnownAddresses.lifetime)
            ORDER BY last_used_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
