import Audit
import Contract
import Domain
import HTTP
import Postgres
import SQL

/// Limits attempts at passwords. They are counted in the database before the password is checked, so that the limits
/// hold across instances, restarts and bursts.
struct Attempts {
    /// A limit of attempts within a window.
    struct Limit {
        /// SHA-256 of what is limited: no address or name is stored.
        let subject: [UInt8]
        let most: Int

        private init(_ kind: String, _ parts: [String], most: Int) {
            subject = sha256(Array(([kind] + parts).joined(separator: "\n").utf8))
            self.most = most
        }

        /// One address that guesses at one account.
        static func account(_ email: String, from network: RemoteAddress.Network?) -> Limit {
            Limit("account and address", [email, Self.name(network)], most: 10)
        }

        /// Many addresses that guess at one account.
        static func account(_ email: String) -> Limit { Limit("account", [email], most: 100) }

        /// One address that guesses at many accounts.
        static func address(_ network: RemoteAddress.Network?) -> Limit {
            Limit("address", [Self.name(network)], most: 50)
        }

        /// One address that asks for codes.
        static func resets(from network: RemoteAddress.Network?) -> Limit {
            Limit("resets from address", [Self.name(network)], most: 20)
        }

        /// Codes for one account.
        static func resets(of email: String) -> Limit { Limit("resets of account", [email], most: 3) }

        private static func name(_ network: RemoteAddress.Network?) -> String { network?.description ?? "" }
    }

    static let window = Timestamp.Span.minutes(15)

    /// Counts one attempt against each limit, or against none.
    /// - Throws: 429 with the time to wait when one of them is used up; the secret MUST then not be checked.
    static func count(_ limits: [Limit], at now: Timestamp, _ queries: any Queries) async throws {
        let counted = try await queries.query(AttemptStatements.count(limits, at: now)).map {
            row throws(PostgresError) -> [UInt8] in try row["subject"]
        }
        let usedUp = limits.filter { !counted.contains($0.subject) }
        if usedUp.isEmpty { return }
        try await takeBack(limits.filter { counted.contains($0.subject) }, at: now, queries)
        let row = try await queries.query(AttemptStatements.newestWindow(of: usedUp)).one()
        let begin: Timestamp? = try row["window_started"]
        throw APIError.tooManyAttempts(until: begin.map { $0 + window } ?? now, at: now)
    }

    /// Counts one attempt; false when the limit is used up.
    static func allow(_ limit: Limit, at now: Timestamp, _ queries: any Queries) async throws -> Bool {
        try await !queries.query(AttemptStatements.count([limit], at: now)).isEmpty
    }

    /// Runs `body`, and takes the attempt back where it throws: then the secret was not checked, or was right.
    static func takingBackOnFailure<Value>(
        _ limits: [Limit], at now: Timestamp, _ queries: any Queries, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            try? await takeBack(limits, at: now, queries)
            throw error
        }
    }

    private static func takeBack(_ limits: [Limit], at now: Timestamp, _ queries: any Queries) async throws {
        if !limits.isEmpty { _ = try await queries.query(AttemptStatements.takeBack(limits, countedAt: now)) }
    }
}

extension APIError {
    static func tooManyAttempts(until end: Timestamp, at now: Timestamp) -> APIError {
        let seconds = max(1, Int((end - now).microseconds / 1_000_000))
        let minutes = (seconds + 59) / 60
        let wait = minutes <= 90 ? "\(minutes) min" : "\((minutes + 59) / 60) h"
        return APIError(.rateLimited, "Too many attempts. Try again in \(wait).", retryAfter: seconds)
    }
}

/// Every statement on counted attempts.
enum AttemptStatements {
    /// The `subject` of each limit that allowed one more.
    static func count(_ limits: [Attempts.Limit], at now: Timestamp) -> SQL {
        let isOver: SQL = "a.window_started <= \(now - Attempts.window)"
        let most = limits.map { "WHEN \($0.subject) THEN \($0.most)" as SQL }
        // In a fixed order, so that two counts cannot deadlock.
        return """
            INSERT INTO sign_in_attempts AS a (subject, window_started, attempts)
            SELECT subject, \(now), 1 FROM (VALUES \(.joined(limits.map { "(\($0.subject))" }, separator: ", "))) v (subject)
            ORDER BY subject
            ON CONFLICT (subject) DO UPDATE SET
                window_started = CASE WHEN \(isOver) THEN \(now) ELSE a.window_started END,
                attempts = CASE WHEN \(isOver) THEN 1 ELSE a.attempts + 1 END
            WHERE \(isOver) OR a.attempts < CASE a.subject \(.joined(most, separator: " ")) END
            RETURNING subject
            """
    }

    /// When the newest window of the limits began; null where none is counted.
    static func newestWindow(of limits: [Attempts.Limit]) -> SQL {
        "SELECT max(window_started) AS window_started FROM sign_in_attempts WHERE subject IN (\(subjects(limits)))"
    }

    /// - Parameter moment: when the attempt was counted. A window that began later did not count it.
    static func takeBack(_ limits: [Attempts.Limit], countedAt moment: Timestamp) -> SQL {
        """
        UPDATE sign_in_attempts SET attempts = attempts - 1 WHERE subject IN (
            SELECT subject FROM sign_in_attempts
            WHERE subject IN (\(subjects(limits))) AND attempts > 0 AND window_started <= \(moment)
            ORDER BY subject FOR UPDATE)
        """
    }

    /// Deletes at most `count` expired counts.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM sign_in_attempts WHERE subject IN (
            SELECT subject FROM sign_in_attempts WHERE window_started < \(now - Attempts.window)
            ORDER BY window_started LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }

    /// Part of an act: the right secret resets the person's own count. Shared counts lose only this attempt, which was
    /// no attack.
    static func succeed(_ own: Attempts.Limit?, _ shared: [Attempts.Limit]) -> SQL {
        """
        UPDATE sign_in_attempts a SET attempts = CASE WHEN a.subject = \(own?.subject) THEN 0 ELSE a.attempts - 1 END
        FROM ledger_stamp, (
            SELECT subject FROM sign_in_attempts
            WHERE subject IN (\(subjects([own].compactMap(\.self) + shared))) AND attempts > 0
            ORDER BY subject FOR UPDATE) held
        WHERE a.subject = held.subject
        """
    }

    private static func subjects(_ limits: [Attempts.Limit]) -> SQL {
        .joined(limits.map { "\($0.subject)" }, separator: ", ")
    }
}
