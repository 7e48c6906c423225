import Audit
import Contract
import Domain
import HTTP
import Postgres
import SQL

/// How often something secret may be tried: counted in the database before the secret is looked at, so that the bound
/// holds across instances, restarts and bursts.
struct Attempts {
    /// What is counted, and how many tries it has in a window.
    struct Limit {
        /// SHA-256 of what is limited: no address or name is kept.
        let subject: [UInt8]
        let most: Int

        private init(_ kind: String, _ parts: [String], most: Int) {
            subject = sha256(Array(([kind] + parts).joined(separator: "\n").utf8))
            self.most = most
        }

        /// One address guessing at one account.
        static func account(_ email: String, from network: RemoteAddress.Network?) -> Limit {
            Limit("account and address", [email, Self.name(network)], most: 10)
        }

        /// Many addresses guessing at one account.
        static func account(_ email: String) -> Limit { Limit("account", [email], most: 100) }

        /// One address guessing at many accounts.
        static func address(_ network: RemoteAddress.Network?) -> Limit {
            Limit("address", [Self.name(network)], most: 50)
        }

        private static func name(_ network: RemoteAddress.Network?) -> String { network?.description ?? "" }

        /// A child's PIN, at sign-in and when it is changed.
        static func pin(of child: UserID) -> Limit { Limit("pin", [child.description], most: 5) }

        /// A child that does not exist: it answers as one that does.
        static func pin(ofNobody username: String, code: String) -> Limit {
            Limit("nobody's pin", [code.uppercased(), username.lowercased()], most: 5)
        }
    }

    static let window = Timestamp.Span.minutes(15)

    /// Counts one try against each limit.
    /// - Throws: 429 with the time to wait when one of them is used up; the secret MUST then not be looked at.
    static func count(_ limits: [Limit], at now: Timestamp, _ queries: any Queries) async throws {
        let rows = try await queries.query(AttemptStatements.count(limits.map(\.subject), at: now))
        let ends = try rows.map { row throws(PostgresError) -> Timestamp? in
            let (subject, attempts): ([UInt8], Int) = (try row["subject"], try row["attempts"])
            guard limits.contains(where: { $0.subject == subject && attempts > $0.most }) else { return nil }
            return try row["window_started"] + window
        }
        guard let end = ends.compactMap(\.self).max() else { return }
        let seconds = max(1, Int((end - now).microseconds / 1_000_000))
        throw APIError(
            .rateLimited, "Too many attempts. Try again in \((seconds + 59) / 60) min.", retryAfter: seconds)
    }
}

/// Every statement on counted attempts.
enum AttemptStatements {
    static func count(_ subjects: [[UInt8]], at now: Timestamp) -> SQL {
        let isOver: SQL = "a.window_started <= \(now - Attempts.window)"
        // In a fixed order, so that two counts never wait for each other in a circle.
        return """
            INSERT INTO sign_in_attempts AS a (subject, window_started, attempts)
            SELECT subject, \(now), 1 FROM (VALUES \(.joined(subjects.map { "(\($0))" }, separator: ", "))) v (subject)
            ORDER BY subject
            ON CONFLICT (subject) DO UPDATE SET
                window_started = CASE WHEN \(isOver) THEN \(now) ELSE a.window_started END,
                attempts = CASE WHEN \(isOver) THEN 1 ELSE least(a.attempts, 1000000) + 1 END
            RETURNING subject, window_started, attempts
            """
    }

    /// Deletes at most `count` counts whose window is over.
    static func forget(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM sign_in_attempts WHERE subject IN (
            SELECT subject FROM sign_in_attempts WHERE window_started < \(now - Attempts.window)
            ORDER BY window_started LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }

    /// A row of an act: the right secret starts the count anew.
    static func forget(_ limits: [Attempts.Limit]) -> SQL {
        """
        DELETE FROM sign_in_attempts USING tick
        WHERE subject IN (\(.joined(limits.map { "\($0.subject)" }, separator: ", ")))
        """
    }

    /// A row of an act: the right secret was no attack on the address's other accounts.
    static func takeBack(_ limit: Attempts.Limit) -> SQL {
        """
        UPDATE sign_in_attempts SET attempts = attempts - 1 FROM tick
        WHERE subject = \(limit.subject) AND attempts > 0
        """
    }
}
