import Audit
import Contract
import Domain
import Postgres
import SQL

/// Limits attempts at a child's PIN. Each one is counted in the database before the PIN is checked, so that the limits
/// hold across instances, restarts and bursts.
///
/// Every fifth wrong PIN in a row locks the sign-in: for a quarter of an hour, then an hour, then a day each time. The
/// right PIN, a new one, or a guardian's unlock resets the count.
struct PINAttempts {
    /// The SHA-256 digest that names the owner of the PIN.
    let subject: [UInt8]

    /// Returns the attempts at a child's PIN.
    static func forChild(_ child: UserID) -> PINAttempts {
        PINAttempts(subject: sha256(Array("pin\n\(child)".utf8)))
    }

    /// Returns the attempts at a child that does not exist, so that the response is the same as for one that does.
    static func forUnknownChild(_ username: String, code: String) -> PINAttempts {
        PINAttempts(subject: sha256(Array("nobody's pin\n\(code)\n\(ChildUsername.folded(username))".utf8)))
    }

    /// The number of wrong attempts that begins a lockout.
    static let attemptsPerLockout = 5
    /// The length of the first lockout, the second, and each later one.
    static let lockoutLengths: [Timestamp.Span] = [.minutes(15), .hours(1), .hours(24)]
    /// The times for which attempts count after the last one: before a first lockout, and after it.
    static let lifetime: (beforeLockout: Timestamp.Span, afterLockout: Timestamp.Span) = (.hours(24), .days(30))

    /// Counts one attempt.
    /// - Returns: the end of the lockout that begins if this attempt is wrong; nil if none begins.
    /// - Throws: 429 with the time to wait during a lockout; the PIN MUST then not be checked.
    func countOrThrow(at now: Timestamp, _ queries: any Queries) async throws -> Timestamp? {
        if let counted = try await queries.query(PINAttemptStatements.increment(self, at: now)).first {
            return try counted["locked_until"]
        }
        let row = try await queries.query(PINAttemptStatements.lastLockoutEnd(self)).first
        // The lockout was lifted in the meantime: the next attempt is allowed.
        let end: Timestamp = try row?["locked_until"] ?? now
        throw APIError.tooManyAttempts(until: end, at: now)
    }

    /// Runs `body`, and refunds the attempt where it throws: then the PIN was not checked, or was right.
    func refundingOnFailure<Value>(
        _ queries: any Queries, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            _ = try? await queries.query(PINAttemptStatements.refund(self))
            throw error
        }
    }

    /// Returns the ends of the lockouts of those children who are locked out.
    static func lockoutEnds(
        of children: [UserID], at now: Timestamp, _ queries: any Queries
    ) async throws -> [UserID: Timestamp] {
        if children.isEmpty { return [:] }
        let subjects = Dictionary(children.map { (forChild($0).subject, $0) }) { first, _ in first }
        let rows = try await queries.query(PINAttemptStatements.lockoutEnds(Array(subjects.keys), at: now))
        let ends = try rows.map { row throws(PostgresError) -> (subject: [UInt8], end: Timestamp) in
            (try row["subject"], try row["locked_until"])
        }
        return Dictionary(ends.compactMap { end in subjects[end.subject].map { ($0, end.end) } }) { first, _ in first }
    }
}

extension Act {
    /// Records in the entry of a failed attempt that a lockout begins, and its end. Does nothing if `end` is nil.
    mutating func recordLockout(until end: Timestamp?) {
        guard let end else { return }
        kind = .childLockoutBegun
        details["until"] = end.rfc3339
    }
}

/// Every statement on attempts at PINs.
enum PINAttemptStatements {
    /// Counts an attempt, and returns a row with the end of the lockout that it begins, if any. No row during a
    /// lockout.
    static func increment(_ attempts: PINAttempts, at now: Timestamp) -> SQL {
        let attemptCount: SQL = "CASE WHEN \(isForgotten(at: now)) THEN 1 ELSE least(p.attempts, 1000000) + 1 END"
        return """
            INSERT INTO pin_attempts AS p (subject, attempts, last_at) VALUES (\(attempts.subject), 1, \(now))
            ON CONFLICT (subject) DO UPDATE SET
                attempts = \(attemptCount), last_at = \(now), locked_until = \(lockoutEnd(after: attemptCount, at: now))
            WHERE p.locked_until IS NULL OR p.locked_until <= \(now)
            RETURNING p.locked_until
            """
    }

    /// An expression: the end of the lockout that begins with this attempt; null for none.
    private static func lockoutEnd(after attemptCount: SQL, at now: Timestamp) -> SQL {
        let perLockout = PINAttempts.attemptsPerLockout
        let lengths = PINAttempts.lockoutLengths
        let ends = lengths.enumerated().map { level, length -> SQL in
            let firstCount = (level + 1) * perLockout
            return level + 1 < lengths.count
                ? "WHEN \(attemptCount) = \(firstCount) THEN \(now + length)"
                : "WHEN \(attemptCount) % \(perLockout) = 0 THEN \(now + length)"
        }
        return "CASE \(.joined(ends, separator: " ")) END"
    }

    /// A condition: so much time has passed since the last attempt that the count begins anew.
    private static func isForgotten(at now: Timestamp) -> SQL {
        """
        (p.last_at <= \(now - PINAttempts.lifetime.beforeLockout) AND p.attempts < \(PINAttempts.attemptsPerLockout)
            OR p.last_at <= \(now - PINAttempts.lifetime.afterLockout))
        """
    }

    /// Reads the end of the last lockout, past or present, as `locked_until`.
    static func lastLockoutEnd(_ attempts: PINAttempts) -> SQL {
        "SELECT locked_until FROM pin_attempts WHERE subject = \(attempts.subject)"
    }

    /// Reads the `subject` and `locked_until` of the subjects that are locked out at `now`.
    static func lockoutEnds(_ subjects: [[UInt8]], at now: Timestamp) -> SQL {
        """
        SELECT subject, locked_until FROM pin_attempts
        WHERE subject = ANY(\(SQLList(subjects))) AND locked_until > \(now)
        """
    }

    /// Refunds an attempt whose PIN was not checked or was right, and ends the lockout, if one has begun.
    static func refund(_ attempts: PINAttempts) -> SQL {
        """
        UPDATE pin_attempts SET attempts = attempts - 1, locked_until = NULL
        WHERE subject = \(attempts.subject) AND attempts > 0
        """
    }

    /// Part of an act: resets the count, after the right PIN, a new one, or a guardian's unlock.
    static func reset(_ attempts: PINAttempts) -> SQL {
        "DELETE FROM pin_attempts USING ledger_stamp WHERE subject = \(attempts.subject)"
    }

    /// Deletes at most `count` expired counts.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM pin_attempts WHERE subject IN (
            SELECT subject FROM pin_attempts p
            WHERE last_at <= \(now - PINAttempts.lifetime.beforeLockout) AND \(isForgotten(at: now))
            ORDER BY last_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
