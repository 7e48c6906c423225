import Audit
import Contract
import Domain
import HTTP
import Postgres
import SQL

/// Limits attempts at passwords, and the number of codes that are sent. Each attempt is counted in the database before
/// the password is checked or the code is sent, so that the limits hold across instances, restarts and bursts.
enum Attempts {
    /// A limit of attempts. A used-up limit allows one further attempt after each interval. So an attacker who uses it
    /// up delays others only for a short time, and gets no more guesses than with fixed windows.
    struct Limit {
        /// The digest, 32 bytes long, of what is limited: no address, name or number is stored.
        let subject: [UInt8]
        /// The maximum number of attempts that may be made at once.
        let maxCount: Int
        /// The time in which all attempts of a used-up limit become available again, one after the other at equal
        /// intervals.
        let window: Timestamp.Span
        /// Creates the error for a refused attempt, from the limit, the time at which the next attempt is allowed, and
        /// the present time.
        let refusal: @Sendable (_ maxCount: Int, _ nextAllowed: Timestamp, _ now: Timestamp) -> APIError
        /// The time after which each used attempt becomes available again.
        var interval: Timestamp.Span { Timestamp.Span(microseconds: window.microseconds / Int64(maxCount)) }

        init(
            subject: [UInt8], maxCount: Int, window: Timestamp.Span,
            refusal: @escaping @Sendable (_ maxCount: Int, _ nextAllowed: Timestamp, _ now: Timestamp) -> APIError
        ) {
            (self.subject, self.maxCount, self.window, self.refusal) = (subject, maxCount, window, refusal)
        }

        private init(_ kind: String, _ parts: [String], maxCount: Int) {
            self.init(
                subject: sha256(Array(([kind] + parts).joined(separator: "\n").utf8)), maxCount: maxCount,
                window: Attempts.window
            ) { _, nextAllowed, now in .tooManyAttempts(until: nextAllowed, at: now) }
        }

        /// Returns the limit of guesses from one network address at one account.
        static func account(_ email: String, from network: RemoteAddress.Network?) -> Limit {
            Limit("account and address", [email, Self.name(network)], maxCount: 10)
        }

        /// Returns the limit of guesses at one account from all network addresses that it has not used before.
        static func account(_ email: String) -> Limit { Limit("account", [email], maxCount: 100) }

        /// Returns the limit of guesses on a device that the account has signed in on.
        static func device(_ secretHash: [UInt8]) -> Limit { Limit("device", [hexadecimal(secretHash)], maxCount: 10) }

        /// Returns the limit of guesses from one network address at all accounts.
        static func address(_ network: RemoteAddress.Network?) -> Limit {
            Limit("address", [Self.name(network)], maxCount: 50)
        }

        /// Returns the limit of password reset codes that are requested from one network address.
        static func resets(from network: RemoteAddress.Network?) -> Limit {
            Limit("resets from address", [Self.name(network)], maxCount: 20)
        }

        /// Returns the limit of password reset codes for one account.
        static func resets(of email: String) -> Limit { Limit("resets of account", [email], maxCount: 3) }

        private static func name(_ network: RemoteAddress.Network?) -> String { network?.description ?? "" }
    }

    /// The window of the limits on passwords and on their reset codes.
    static let window = Timestamp.Span.minutes(15)

    /// Returns the limits of an attempt at a password: the one that a right password resets, and those shared with
    /// others.
    /// - Parameters:
    ///   - deviceHash: the hash of one of the account's device secrets; nil if the client has sent none.
    ///   - isKnownAddress: whether the account has used the network address before.
    static func limits(
        _ email: String, from remote: RemoteAddress.Network?, on deviceHash: [UInt8]? = nil, isKnownAddress: Bool
    ) -> (ownLimit: Limit, sharedLimits: [Limit]) {
        if let deviceHash { return (.device(deviceHash), []) }
        return (.account(email, from: remote), isKnownAddress ? [] : [.account(email), .address(remote)])
    }

    /// Counts one attempt against every limit, or against none of them.
    /// - Throws: 429 with the time to wait when a limit is used up, as the first such limit words it. Then the secret
    ///   MUST NOT be checked, and no code sent.
    static func countOrThrow(_ limits: [Limit], at now: Timestamp, _ queries: any Queries) async throws {
        let counted = try await queries.query(AttemptStatements.increment(limits, at: now)).map {
            row throws(PostgresError) -> [UInt8] in try row["subject"]
        }
        let usedUp = limits.filter { !counted.contains($0.subject) }
        guard let first = usedUp.first else { return }
        try await refund(limits.filter { counted.contains($0.subject) }, at: now, queries)
        let row = try await queries.query(AttemptStatements.nextAllowed(of: usedUp)).onlyRow()
        throw first.refusal(first.maxCount, try row["next"] ?? now, now)
    }

    /// Counts one attempt. Returns false if the limit is used up.
    static func countIfAllowed(_ limit: Limit, at now: Timestamp, _ queries: any Queries) async throws -> Bool {
        try await !queries.query(AttemptStatements.increment([limit], at: now)).isEmpty
    }

    /// Runs `body`, and refunds the attempt if it throws. `body` MUST NOT throw for a wrong secret, because such an
    /// attempt counts.
    static func refundingOnFailure<Value>(
        _ limits: [Limit], at now: Timestamp, _ queries: any Queries, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            try? await refund(limits, at: now, queries)
            throw error
        }
    }

    /// Refunds an attempt that was counted at `moment`.
    static func refund(_ limits: [Limit], at moment: Timestamp, _ queries: any Queries) async throws {
        if !limits.isEmpty { _ = try await queries.query(AttemptStatements.refund(limits, countedAt: moment)) }
    }
}

/// Every statement on counted attempts.
enum AttemptStatements {
    /// Counts one attempt against each limit, and returns the `subject` of each limit that allowed it.
    ///
    /// Before that, it subtracts from `attempts` those that have become available again. `window_started` is the moment
    /// up to which this was done.
    static func increment(_ limits: [Attempts.Limit], at now: Timestamp) -> SQL {
        let maxCount = byLimit(limits) { "\($0.maxCount)" }
        let interval = byLimit(limits) { "\($0.interval.microseconds)" }
        let regainedAttempts: SQL = """
            greatest(0, floor(extract(epoch FROM \(now) - a.window_started) * 1000000 / \(interval)))::integer
            """
        // In a fixed order, so that two counts cannot deadlock.
        let values: [SQL] = limits.map { "(\($0.subject), \(now + $0.window))" }
        return """
            INSERT INTO sign_in_attempts AS a (subject, window_started, attempts, expires_at)
            SELECT subject, \(now), 1, expires_at
            FROM (VALUES \(.joined(values, separator: ", "))) v (subject, expires_at) ORDER BY subject
            ON CONFLICT (subject) DO UPDATE SET expires_at = excluded.expires_at,
                window_started = CASE WHEN a.attempts <= \(regainedAttempts) THEN \(now)
                    ELSE a.window_started + \(regainedAttempts) * \(interval) * interval '1 microsecond' END,
                attempts = greatest(0, a.attempts - \(regainedAttempts)) + 1
            WHERE a.attempts - \(regainedAttempts) < \(maxCount)
            RETURNING subject
            """
    }

    /// Reads the time at which every one of the used-up limits allows an attempt again, as `next`; null if nothing is
    /// counted.
    static func nextAllowed(of limits: [Attempts.Limit]) -> SQL {
        let interval = byLimit(limits) { "\($0.interval.microseconds)" }
        return """
            SELECT max(a.window_started + \(interval) * interval '1 microsecond') AS next FROM sign_in_attempts a
            WHERE a.subject IN (\(subjects(limits)))
            """
    }

    /// An expression: the value of `number` for the limit that the row `a` counts.
    private static func byLimit(_ limits: [Attempts.Limit], _ number: (Attempts.Limit) -> SQL) -> SQL {
        "CASE a.subject \(.joined(limits.map { "WHEN \($0.subject) THEN \(number($0))" }, separator: " ")) END"
    }

    /// Refunds an attempt that was counted at `moment`, unless it has become available again since.
    static func refund(_ limits: [Attempts.Limit], countedAt moment: Timestamp) -> SQL {
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
            SELECT subject FROM sign_in_attempts
            WHERE window_started < \(now - Attempts.window) AND (expires_at IS NULL OR expires_at <= \(now))
            ORDER BY window_started LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }

    /// Part of an act: after the right secret, resets the person's own count, and refunds this attempt in the shared
    /// counts unless it has become available again since. The act's time MUST be the one that the attempt was counted at.
    static func resetAfterSuccess(_ own: Attempts.Limit?, _ shared: [Attempts.Limit]) -> SQL {
        """
        UPDATE sign_in_attempts a SET attempts = CASE WHEN a.subject = \(own?.subject) THEN 0 ELSE a.attempts - 1 END
        FROM ledger_stamp, (
            SELECT subject FROM sign_in_attempts
            WHERE subject IN (\(subjects([own].compactMap(\.self) + shared))) AND attempts > 0
            ORDER BY subject FOR UPDATE) locked
        WHERE a.subject = locked.subject AND (a.subject = \(own?.subject) OR a.window_started <= ledger_stamp.now)
        """
    }

    private static func subjects(_ limits: [Attempts.Limit]) -> SQL {
        .joined(limits.map { "\($0.subject)" }, separator: ", ")
    }
}
