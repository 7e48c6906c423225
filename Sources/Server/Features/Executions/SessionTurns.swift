import Audit
import Contract
import Domain
import JSON
import NagzAI
import Postgres
import SQL

/// The latest turns of AI sessions: sealed, limited in number, and deleted with their session.
///
/// A turn is sealed under the master key and bound to its session's digest, so that it cannot be read as a turn of
/// another session. Without an audit keyring no turns are stored, and a session has no context.
struct SessionTurns {
    let keyring: AuditKeyring?
    let random: any Randomness

    /// Returns the turns of the person's AI session, oldest first; none if the session has expired.
    func read(
        _ session: Secret, of user: UserID, at now: Timestamp, _ queries: any Queries
    ) async throws -> [SessionTurn] {
        guard let keyring else { return [] }
        let digest = AITokens.digest(session)
        let rows = try await queries.query(ExecutionStatements.turns(of: digest, user, at: now))
        let turns = try rows.map { row throws(PostgresError) -> SessionTurn? in
            let (masterID, sealed): ([UInt8], [UInt8]) = (try row["master"], try row["sealed"])
            let openedBytes = keyring.masterKeys.first { $0.id == masterID }?
                .open(sealed, for: Self.purpose, associatedData: digest)
            return openedBytes.flatMap { SessionTurn(opened: $0) }
        }
        return turns.compactMap(\.self).reversed()
    }

    /// Returns the statements of an act that store a turn and delete the oldest ones beyond a session's limit.
    func insertionStatements(
        _ turn: SessionTurn, of execution: ExecutionID, to session: Secret, at now: Timestamp
    ) -> [SQL] {
        guard let master = keyring?.masterKeys.first else { return [] }
        let digest = AITokens.digest(session)
        let sealed = master.seal(turn.bytes, for: Self.purpose, associatedData: digest, nonce: random.bytes(24))
        return [
            ExecutionStatements.deleteOldTurns(of: digest, keeping: SessionTurn.maxTurnsPerSession - 1),
            ExecutionStatements.addTurn(sealed, master.id, of: execution, to: digest, at: now),
        ]
    }

    /// The purpose under which master keys seal turns.
    private static let purpose = "ai session turns"
}

extension SessionTurn {
    /// Parses the bytes of an opened turn; nil if they are not a turn.
    fileprivate init?(opened bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes.span), let question = json["question"]?.stringValue,
            let answer = json["answer"]?.stringValue, let tone = json["tone"]?.stringValue.flatMap(AITone.init)
        else { return nil }
        self.init(question: question, answer: answer, tone: tone)
    }

    fileprivate var bytes: [UInt8] {
        JSONValue.object(["question": .string(question), "answer": .string(answer), "tone": .string(tone.rawValue)])
            .bytes
    }
}
