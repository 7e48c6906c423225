import Audit
import Contract
import Domain
import SQL

/// Single-use codes that change an account's password or email address.
///
/// A code has 99 random bits, is stored as a digest, and is shown or sent once. An account may have several at a time,
/// so that nobody can invalidate one by requesting another. The first one that is used deletes all of them.
enum AccountCodes {
    enum Purpose: String {
        /// Sets a new password without the old one.
        case passwordReset = "password_reset"
        /// Confirms a new email address.
        case emailChange = "email_change"
    }

    static let lifetime = Timestamp.Span.minutes(30)

    static func make(_ random: any Randomness) -> String { random.code(AccountCode.length) }

    static func hash(_ code: String, for purpose: Purpose) -> [UInt8] {
        sha256(Array("account code\n\(purpose.rawValue)\n\(code)".utf8))
    }

    /// Returns the code as people read it: `ABCDE-FGHJK-MNPQR-STUVW`.
    static func formatted(_ code: String) -> String {
        Array(code).chunks(of: 5).map { String($0) }.joined(separator: "-")
    }
}

/// Every statement on account codes.
enum AccountCodeStatements {
    /// Reads the `Person` who owns the code, the code's `new_email` (null for a password reset), and the `seq` of
    /// `chain`. No row: the code is unknown, was used, or has expired.
    static func owner(
        _ code: AccountCode, for purpose: AccountCodes.Purpose, at now: Timestamp, chain: FamilyID = .outside
    ) -> SQL {
        """
        SELECT \(AccountStatements.personColumns), k.new_email, c.seq
        FROM account_codes k JOIN users u ON u.id = k.user_id AND u.status <> 'deleted'
        \(AccountStatements.activeMembershipJoin)
        JOIN family_clock c ON c.family_id = \(chain)
        WHERE k.code_hash = \(AccountCodes.hash(code.wireText, for: purpose)) AND k.expires_at > \(now)
        """
    }

    /// Part of an act: stores a code.
    static func insert(
        _ code: String, for purpose: AccountCodes.Purpose, of user: UserID, newEmail: String? = nil, at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO account_codes (code_hash, user_id, purpose, new_email, created_at, expires_at)
        SELECT \(AccountCodes.hash(code, for: purpose)), \(user), \(purpose.rawValue), \(newEmail), \(now),
               \(now + AccountCodes.lifetime)
        FROM ledger_stamp
        """
    }

    /// Part of an act: deletes all codes of the account.
    static func deleteAll(of user: UserID) -> SQL {
        "DELETE FROM account_codes USING ledger_stamp WHERE user_id = \(user)"
    }

    /// Deletes at most `count` expired codes.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM account_codes WHERE code_hash IN (
            SELECT code_hash FROM account_codes WHERE expires_at <= \(now)
            ORDER BY expires_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
