import Contract
import Domain
import Postgres
import SQL

/// Codes that confirm telephone numbers: six digits, valid for ten minutes and five attempts. An account has one at a time.
enum PhoneCodes {
    static let lifetime = Timestamp.Span.minutes(10)
    /// Attempts at one code.
    static let attempts = 5

    static func make(_ random: any Randomness) -> String { random.code(PhoneCode.length, of: "0123456789") }

    /// The digest that is stored in place of a code, by each token key, the newest first.
    static func hashes(_ code: String, of user: UserID, for phone: String, _ tokens: Tokens) -> [[UInt8]] {
        tokens.keyedHashes(of: "phone code\n\(user)\n\(phone)\n\(code)")
    }
}

/// A limit on the codes that are sent to one number, whoever asks for them, or by all instances together. Each code is
/// counted in the database before it is sent.
struct PhoneCodeLimit {
    /// The keyed digest of the number, or zeros for all instances. With a new token key a number's count begins anew.
    let subject: [UInt8]
    let most: Int
    /// Begins with the first code that is counted.
    let window: Timestamp.Span
    /// Returns the refusal of another code, by the limit, its end and the present time.
    let refusal: @Sendable (_ most: Int, _ end: Timestamp, _ now: Timestamp) -> APIError

    static func number(_ phone: PhoneNumber, _ tokens: Tokens) -> PhoneCodeLimit {
        PhoneCodeLimit(
            subject: tokens.keyedHashes(of: "phone code limit\n\(phone.wireText)")[0], most: 3, window: .days(1),
            refusal: APIError.numberGotItsCodes)
    }

    static let all = PhoneCodeLimit(
        subject: [UInt8](repeating: 0, count: 32), most: 100, window: .hours(1), refusal: APIError.serverSentItsCodes)

    /// Counts a code against each limit and runs `body`. Where that throws, or a limit is used up, nothing is counted.
    /// - Throws: 429 with the time to wait when a limit is used up.
    static func counting<Answer>(
        _ limits: [PhoneCodeLimit], at now: Timestamp, _ queries: any Queries, _ body: () async throws -> Answer
    ) async throws -> Answer {
        var counted: [PhoneCodeLimit] = []
        do {
            for limit in limits {
                try await limit.count(at: now, queries)
                counted.append(limit)
            }
            return try await body()
        } catch {
            await takeBack(counted, at: now, queries)
            throw error
        }
    }

    /// - Parameter moment: when the code was counted.
    static func takeBack(_ limits: [PhoneCodeLimit], at moment: Timestamp, _ queries: any Queries) async {
        for limit in limits {
            _ = try? await queries.query(PhoneCodeStatements.takeBack(limit, at: moment))
            _ = try? await queries.query(PhoneCodeStatements.deleteEmpty(limit))
        }
    }

    private func count(at now: Timestamp, _ queries: any Queries) async throws {
        guard try await queries.query(PhoneCodeStatements.count(self, at: now)).isEmpty else { return }
        let row = try await queries.query(PhoneCodeStatements.window(of: self)).first
        let start: Timestamp = try row?["window_started"] ?? now
        throw refusal(most, start + window, now)
    }
}

/// Every statement on codes for telephone numbers, and on their counts.
enum PhoneCodeStatements {
    /// Part of an act: another code, in place of an earlier one.
    static func set(_ hash: [UInt8], of user: UserID, for phone: PhoneNumber, at now: Timestamp) -> SQL {
        """
        INSERT INTO phone_codes (user_id, phone, code_hash, attempts, expires_at)
        SELECT \(user), \(phone.wireText), \(hash), 0, \(now + PhoneCodes.lifetime) FROM ledger_stamp
        ON CONFLICT (user_id) DO UPDATE SET phone = excluded.phone, code_hash = excluded.code_hash,
            attempts = excluded.attempts, expires_at = excluded.expires_at
        """
    }

    /// Counts an attempt at the account's code. No row when there is none to try any more.
    static func attempt(of user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE phone_codes SET attempts = attempts + 1
        WHERE user_id = \(user) AND attempts < \(PhoneCodes.attempts) AND expires_at > \(now)
        RETURNING phone, code_hash
        """
    }

    /// The `phone` of a code that is still the account's.
    static func phone(of user: UserID, _ hash: [UInt8], at now: Timestamp) -> SQL {
        """
        SELECT phone FROM phone_codes WHERE user_id = \(user) AND code_hash = \(hash) AND expires_at > \(now)
        """
    }

    /// A row when the account has a code.
    static func exists(of user: UserID) -> SQL { "SELECT user_id FROM phone_codes WHERE user_id = \(user)" }

    /// Part of an act.
    static func delete(of user: UserID) -> SQL {
        "DELETE FROM phone_codes USING ledger_stamp WHERE user_id = \(user)"
    }

    /// Deletes at most `count` codes that are over.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM phone_codes WHERE user_id IN (
            SELECT user_id FROM phone_codes WHERE expires_at <= \(now)
            ORDER BY expires_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }

    // MARK: Counts

    /// A row when the limit allowed one more.
    static func count(_ limit: PhoneCodeLimit, at now: Timestamp) -> SQL {
        let isOver: SQL = "c.window_started <= \(now - limit.window)"
        return """
            INSERT INTO phone_code_counts AS c (subject, window_started, count) VALUES (\(limit.subject), \(now), 1)
            ON CONFLICT (subject) DO UPDATE SET
                window_started = CASE WHEN \(isOver) THEN \(now) ELSE c.window_started END,
                count = CASE WHEN \(isOver) THEN 1 ELSE c.count + 1 END
            WHERE \(isOver) OR c.count < \(limit.most)
            RETURNING subject
            """
    }

    static func window(of limit: PhoneCodeLimit) -> SQL {
        "SELECT window_started FROM phone_code_counts WHERE subject = \(limit.subject)"
    }

    /// - Parameter moment: when the code was counted.
    static func takeBack(_ limit: PhoneCodeLimit, at moment: Timestamp) -> SQL {
        """
        UPDATE phone_code_counts SET count = count - 1
        WHERE subject = \(limit.subject) AND count > 0 AND window_started <= \(moment)
        """
    }

    /// Deletes a count of nothing.
    static func deleteEmpty(_ limit: PhoneCodeLimit) -> SQL {
        "DELETE FROM phone_code_counts WHERE subject = \(limit.subject) AND count = 0"
    }

    /// Deletes at most `count` counts of days that are over.
    static func deleteExpiredCounts(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM phone_code_counts WHERE subject IN (
            SELECT subject FROM phone_code_counts WHERE window_started <= \(now - DailyLimit.day)
            ORDER BY window_started LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
