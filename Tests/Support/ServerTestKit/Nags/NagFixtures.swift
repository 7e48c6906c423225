import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server

/// A person of a household, by their role in it.
enum Who: String, Sendable, CaseIterable {
    case guardian, secondGuardian, participant, child, removed, stranger

    func callAsFunction(_ household: Household) -> TestPerson {
        switch self {
        case .guardian: household.guardian
        case .secondGuardian: household.secondGuardian
        case .participant: household.participant
        case .child: household.child
        case .removed: household.removed
        case .stranger: household.stranger
        }
    }
}

/// The expected result of an operation.
enum Expected: Sendable {
    case success
    /// The error code, and the invalid field; nil without one.
    case refusal(ErrorCode, String?)

    static func refusal(_ code: ErrorCode) -> Expected { .refusal(code, nil) }
}

extension TestServer {
    /// Returns the request for a nag, which by default is due in two hours.
    func order(
        for recipient: TestPerson, in family: FamilyID?, due: Timestamp.Span = .hours(2),
        _ category: NagCategory = .chores,
        _ done: DoneDefinition = .binaryCheck, every recurrence: Recurrence? = nil
    ) -> NagCreate {
        NagCreate(
            familyID: family, recipientID: recipient.id, dueAt: clock.now() + due, category: category,
            doneDefinition: done, description: "Please", recurrence: recurrence)
    }

    /// A header with a new idempotency key, so that a write is not taken for a repetition of an equal one.
    static var newIdempotencyHeader: [String: String] { ["Idempotency-Key": "\(UInt64.random(in: 0...UInt64.max))"] }

    /// Creates a nag through the API.
    func nag(
        from creator: TestPerson, to recipient: TestPerson, due: Timestamp.Span = .hours(2),
        _ category: NagCategory = .chores,
        _ done: DoneDefinition = .binaryCheck, every recurrence: Recurrence? = nil
    ) async throws -> NagResponse {
        let order = order(for: recipient, in: creator.familyID, due: due, category, done, every: recurrence)
        return try await call(API.createNag, order, as: creator, headers: Self.newIdempotencyHeader)
    }

    /// A new request's context, for acts that tests write through the ledger.
    var context: CallContext {
        let now = clock.now()
        return CallContext(
            now: now, trace: random.identifier(at: now), request: random.identifier(at: now),
            idempotency: nil, ifMatch: nil)
    }

    func complete(_ nag: NagID, as person: TestPerson, note: String? = nil) async throws -> NagResponse {
        try await call(
            API.updateNagStatus, NagPath(nagID: nag), NagStatusUpdate(status: .completed, note: note), as: person)
    }

    /// Stores a person's preference for points.
    func enableGamification(_ person: TestPerson, _ isEnabled: Bool = true) async throws {
        let prefs = SQLJSON("{\"gamification_enabled\": \(isEnabled)}")
        let now = clock.now()
        try await sql(
            """
            INSERT INTO preferences (family_id, user_id, prefs, updated_at)
            SELECT family_id, user_id, \(prefs), \(now) FROM memberships WHERE user_id = \(person.id)
            ON CONFLICT (family_id, user_id) DO UPDATE SET prefs = excluded.prefs
            """)
    }

    func revokeConsent(_ type: ConsentType) async throws {
        try await sql("UPDATE consents SET revoked_at = \(clock.now()) WHERE consent_type = \(type)")
    }

    /// Returns the payloads of a nag's events of one type, in the order of the feed.
    func payloads(_ type: String, of nag: NagID) async throws -> [String] {
        try await database.rows(
            """
            SELECT payload::text AS payload FROM nag_events WHERE nag_id = \(nag) AND event_type = \(type) ORDER BY sync_ts
            """
        ) { try $0["payload"] }
    }

    /// Expects that a call succeeds, or that it is refused with the expected code and field.
    func expect<Value>(
        _ expected: Expected, sourceLocation: SourceLocation = #_sourceLocation, _ call: () async throws -> Value
    ) async throws {
        do {
            _ = try await call()
            if case .refusal(let code, _) = expected {
                Issue.record("answered instead of \(code)", sourceLocation: sourceLocation)
            }
        } catch let error as APIError {
            guard case .refusal(let code, let field) = expected else {
                Issue.record("refused: \(error)", sourceLocation: sourceLocation)
                return
            }
            #expect(error.code == code, sourceLocation: sourceLocation)
            #expect(error.field == field, sourceLocation: sourceLocation)
        }
    }
}

/// Runs `count` calls concurrently, and returns the value or the refusal of each.
func together<Value: Sendable>(
    outcomesOf count: Int, _ call: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Result<Value, APIError>] {
    try await together(count) { number in
        do { return .success(try await call(number)) } catch let error as APIError { return .failure(error) }
    }
}
