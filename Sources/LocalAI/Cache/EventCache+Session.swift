import Domain
import DomainSQL
import JSON
import NagzAI
import SQL
import SQLite

// The device's AI session: the latest questions that belong together, with their answers, all sealed. The session
// expires 45 minutes after the last answer.
extension EventCache {
    /// The time after the last turn at which a session expires.
    static let sessionLifetime = Timestamp.Span.minutes(45)

    /// Returns the turns of the session, oldest first; none if the session has expired, or if its last turn is in the
    /// future because the clock was set back.
    public func sessionTurns(of family: FamilyID, at now: Timestamp) throws(SQLiteError) -> [SessionTurn] {
        let turns = try database.rows(
            """
            SELECT t.id, t.at, t.turn FROM families f JOIN session_turns t ON t.family = f.key
            WHERE f.id = \(family) ORDER BY t.at DESC, t.id DESC LIMIT \(SessionTurn.maxTurnsPerSession)
            """
        ) { row throws(SQLiteError) in
            let (id, at): (ExecutionID, Timestamp) = (try row["id"], try row["at"])
            return (at: at, turn: try Self.parseTurn(try seal.open(try row["turn"], .sessionTurn, id)))
        }
        guard let latest = turns.first?.at, now - latest < Self.sessionLifetime, latest <= now else { return [] }
        return turns.reversed().map(\.turn)
    }

    /// Adds the turn of an answer, and deletes the turns of an expired session and the oldest turns beyond
    /// `SessionTurn.maxTurnsPerSession`. If the cache has nothing of the family, nothing is added.
    /// - Parameter id: the ID of the record of the answer.
    public func add(_ turn: SessionTurn, _ id: ExecutionID, of family: FamilyID, at now: Timestamp) throws {
        try database.transaction {
            if try sessionTurns(of: family, at: now).isEmpty { try endSession(of: family) }
            let text = JSONValue.object([
                "question": .string(turn.question), "answer": .string(turn.answer), "tone": .string(turn.tone.rawValue),
            ]).description
            try database.run(
                """
                INSERT INTO session_turns (family, id, at, turn)
                SELECT key, \(id), \(now), \(seal.seal(text, .sessionTurn, id)) FROM families WHERE id = \(family)
                """)
            try database.run(
                """
                DELETE FROM session_turns WHERE family = (SELECT key FROM families WHERE id = \(family)) AND id NOT IN (
                    SELECT t.id FROM session_turns t JOIN families f ON f.key = t.family
                    WHERE f.id = \(family) ORDER BY t.at DESC, t.id DESC LIMIT \(SessionTurn.maxTurnsPerSession))
                """)
        }
    }

    /// Deletes the session's turns.
    public func endSession(of family: FamilyID) throws(SQLiteError) {
        try database.run(
            "DELETE FROM session_turns WHERE family = (SELECT key FROM families WHERE id = \(family))")
    }

    private static func parseTurn(_ text: String) throws(SQLiteError) -> SessionTurn {
        guard let json = try? JSONValue(parsing: Array(text.utf8).span), let question = json["question"]?.stringValue,
            let answer = json["answer"]?.stringValue, let tone = json["tone"]?.stringValue.flatMap(AITone.init)
        else { throw .unexpectedShape("a turn of the session") }
        return SessionTurn(question: question, answer: answer, tone: tone)
    }
}
