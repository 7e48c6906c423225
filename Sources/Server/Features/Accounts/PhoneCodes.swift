import Contract
import Domain
import Postgres
import SQL

/// Codes that confirm telephone numbers: six digits, valid for ten minutes and five attempts. An account has one at a
/// time.
enum PhoneCodes {
    static let lifetime = Timestamp.Span.minutes(10)
    /// The maximum number of attempts at one code.
    static let maxAttemptsPerCode = 5

    static func make(_ random: any Randomness) -> String { random.code(PhoneCode.length, of: "0123456789") }

    /// Returns the keyed hashes of a code, one for each token key, the newest key's first. That first hash is stored in
    /// place of the code.
    static func hashes(_ code: String, of user: UserID, for phone: String, _ tokens: Tokens) -> [[UInt8]] {
        tokens.keyedHashes(of: "phone code\n\(user)\n\(phone)\n\(code)")
    }
}

extension Attempts.Limit {
    /// Returns the limit of codes that are sent to one number, whoever requests them: three a day. A new token key
    /// restarts the count.
    static func phoneCodes(to phone: PhoneNumber, _ tokens: Tokens) -> Attempts.Limit {
        Attempts.Limit(
            subject: tokens.keyedHashes(of: "phone code limit\n\(phone.wireText)")[0], maxCount: 3, window: .days(1),
            refusal: APIError.tooManyCodesForNumber)
    }

    /// The limit of codes that all instances together send: a hundred an hour.
    static let phoneCodesOverall = Attempts.Limit(
        subject: [UInt8](repeating: 0, count: 32), maxCount: 100, window: .hours(1),
        refusal: APIError.tooManyCodesFromServer)
}

/// Every statement on codes for telephone numbers.
enum PhoneCodeStatements {
    /// Part of an act: stores a code in place of an earlier one.
    static func store(_ hash: [UInt8], of user: UserID, for phone: PhoneNumber, at now: Timestamp) -> SQL {
        """
        INSERT INTO phone_codes (user_id, phone, code_hash, attempts, expires_at)
        SELECT \(user), \(phone.wireText), \(hash), 0, \(now + PhoneCodes.lifetime) FROM ledger_stamp
        ON CONFLICT (user_id) DO UPDATE SET phone = excluded.phone, code_hash = excluded.code_hash,
            attempts = excluded.attempts, expires_at = excluded.expires_at
        """
    }

    /// Counts an attempt at the account's code, and returns its `phone` and `code_hash`. No row: there is no code, it
    /// has expired, or its attempts are used up.
    static func countAttempt(of user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE phone_codes SET attempts = attempts + 1
        WHERE user_id = \(user) AND attempts < \(PhoneCodes.maxAttemptsPerCode) AND expires_at > \(now)
        RETURNING phone, code_hash
        """
    }

    /// Reads the `phone` of the account's code with that hash. No row: the code was used or replaced, or has expired.
    static func phoneOfCode(of user: UserID, _ hash: [UInt8], at now: Timestamp) -> SQL {
        """
        SELECT phone FROM phone_codes WHERE user_id = \(user) AND code_hash = \(hash) AND expires_at > \(now)
        """
    }

    /// Returns a row if the account has a code.
    static func exists(of user: UserID) -> SQL { "SELECT user_id FROM phone_codes WHERE user_id = \(user)" }

    /// Part of an act: deletes the account's code.
    static func delete(of user: UserID) -> SQL {
        "DELETE FROM phone_codes USING ledger_stamp WHERE user_id = \(user)"
    }

    /// Deletes at most `count` expired codes.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM phone_codes WHERE user_id IN (
            SELECT user_id FROM phone_codes WHERE expires_at <= \(now)
            ORDER BY expires_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
