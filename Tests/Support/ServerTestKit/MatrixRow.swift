import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server

/// Who asks, as the role matrix tells people apart. Everybody but the administrator is a member of the family.
enum MatrixRequester: String, CaseIterable, Sendable {
    case guardian
    case coGuardian = "co-guardian"
    /// A participant who made the scene's nag.
    case creator
    /// A participant who got it.
    case recipient
    /// A participant who has nothing to do with it.
    case participant
    /// The child that requests about a member are about; it has a nag of its own.
    case child
    /// Another child, which has nothing to do with any of it.
    case sibling
    /// Made by the command line; belongs to no family.
    case administrator
}

extension Set<MatrixRequester> {
    static let everybody = Set(MatrixRequester.allCases)
    static let members = everybody.subtracting([.administrator])
    static let guardians: Self = [.guardian, .coGuardian]
    static let auditors = guardians.union([.administrator])
    static let adults = members.subtracting([.child, .sibling])
    /// Those who may read the scene's nag.
    static let readers = guardians.union([.creator, .recipient])
    /// Those who may read the child's nag, which its guardian made.
    static let readersOfChild = guardians.union([.child])
}

/// What the requests of the matrix are about: a family with one of everything in it.
struct Scene: Sendable {
    let family: Household
    let people: [MatrixRequester: TestPerson]
    let administrator: TestPerson
    /// From the creator to the recipient.
    let nag: NagID
    /// From the guardian to the child.
    let childNag: NagID
    /// The guardian's, of somebody of another family.
    let block: BlockID
    /// The guardian's.
    let consent: ConsentID
    let relationship: RelationshipID
    /// The guardian's alone.
    let policy: PolicyID
    /// The participant's, about the co-guardian.
    let report: AbuseReportID
    /// Failed.
    let delivery: DeliveryID
    let finding: AuditFindingID
    /// The guardian's.
    let device: DeviceID
    /// From somebody of no family to the guardian.
    let invitation: ConnectionID
    /// Active, a caregiver's, of the guardian and somebody of no family.
    let connection: ConnectionID
    let incentiveRule: IncentiveRuleID
    /// Uploaded by the creator, for the nag.
    let attachment: AttachmentID
    /// The family's.
    let constraint: ConstraintID
    /// Of a question that the creator asked.
    let trace: TraceID
    /// The guardian's.
    let confirmation: Secret
    /// The guardian's.
    let session: Secret
    /// The guardian's, for another email address.
    let emailCode: AccountCode
    /// Of nobody: one of a range for films.
    let phone: PhoneNumber
    /// The guardian's, for that number.
    let phoneCode: PhoneCode
    /// The creator's, of nags to the recipient: a new one, an approved and a confirmed one with its key.
    let drafts: DraftScene
    /// Waits for a guardian; the child's.
    let incentiveEvent: IncentiveEventID

    init(_ server: TestServer) async throws {
        let family = try await server.family()
        self.family = family
        let creator = try await server.member("Cora", .participant, of: family)
        let recipient = try await server.member("Rob", .participant, of: family)
        try await server.relate(creator, recipient, in: family.id)
        administrator = try await server.admin()
        people = [
            .guardian: family.guardian, .coGuardian: family.secondGuardian, .creator: creator, .recipient: recipient,
            .participant: family.participant, .child: family.child,
            .sibling: try await server.member("Sid", .child, of: family),
            .administrator: administrator,
        ]
        nag = try await server.nag(from: creator, to: recipient, in: family.id)
        childNag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
        let now = server.clock.now()
        let block: BlockID = server.random.identifier(at: now)
        self.block = block
        try await server.sql(
            """
            INSERT INTO blocks (id, actor_id, target_id, state, created_at, updated_at)
            VALUES (\(block), \(family.guardian.id), \(family.stranger.id), 'active', \(now), \(now))
            """)
        consent = try await server.database.rows(
            """
            SELECT id FROM consents WHERE family_id = \(family.id) AND consent_type = 'ai_mediation'
            """
        ) { try $0["id"] }[0]
        policy = try await server.policyID(family.id)
        relationship = try await server.database.rows(
            "SELECT id FROM relationships WHERE family_id = \(family.id) ORDER BY id LIMIT 1"
        ) { try $0["id"] }[0]
        let report: AbuseReportID = server.random.identifier(at: now)
        self.report = report
        try await server.sql(
            """
            INSERT INTO abuse_reports (id, reporter_id, target_id, reason, family_id, created_at, updated_at)
            VALUES (\(report), \(family.participant.id), \(family.secondGuardian.id), 'rude', \(family.id), \(now), \(now))
            """)
        let delivery: DeliveryID = server.random.identifier(at: now)
        self.delivery = delivery
        try await server.sql(
            """
            INSERT INTO deliveries (family_id, id, nag_id, nag_event_id, user_id, channel, status, created_at)
            VALUES (\(family.id), \(delivery), \(delivery), \(delivery), \(family.child.id), 'push', 'failed', \(now))
            """)
        let finding: AuditFindingID = server.random.identifier(at: now)
        self.finding = finding
        try await server.sql(
            """
            INSERT INTO audit_findings (id, source, code, family_id, n, message, found_at)
            VALUES (\(finding), 'verification', 'altered_entry', \(family.id), 3, 'entry 3 was altered', \(now))
            """)
        let device: DeviceID = server.random.identifier(at: now)
        self.device = device
        try await server.sql(
            """
            INSERT INTO devices (id, user_id, session_id, platform, token, created_at)
            VALUES (\(device), \(family.guardian.id), \(family.guardian.session), 'ios', \("\(device)"), \(now))
            """)
        attachment = try await server.insertAttachment(of: creator, for: nag, in: family.id)
        invitation = try await server.connection(from: try await server.account("Otto"), to: family.guardian)
        connection = try await server.connection(
            from: family.guardian, to: try await server.account("Tuto"), isActive: true, isCaregiver: true)
        let rule: IncentiveRuleID = server.random.identifier(at: now)
        let event: IncentiveEventID = server.random.identifier(at: now)
        (incentiveRule, incentiveEvent) = (rule, event)
        try await server.sql(
            """
            INSERT INTO incentive_rules
                (family_id, id, version, condition, action, approval_mode, status, created_at, created_by)
            VALUES (\(family.id), \(rule), 1, '{"type": "nag_completed", "count": 5}', '{"type": "badge", "amount": 1}',
                    'guardian_confirmed', 'active', \(now), \(family.guardian.id))
            """)
        try await server.sql(
            """
            INSERT INTO incentive_events (family_id, id, nag_id, rule_id, rule_version, user_id, action_type, at)
            VALUES (\(family.id), \(event), \(childNag), \(rule), 1, \(family.child.id), 'badge', \(now))
            """)
        let constraint: ConstraintID = server.random.identifier(at: now)
        self.constraint = constraint
        try await server.sql(
            """
            INSERT INTO ai_constraints (family_id, id, name, type, enabled, priority, conditions, action, created_by,
                                        created_at, updated_at, changed_by)
            VALUES (\(family.id), \(constraint), 'n', 'cost', true, 5,
                    '[{"field": "token_count", "operator": "exceeds", "value": "9"}]', '{"type": "force_local"}',
                    \(family.guardian.id), \(now), \(now), 1)
            """)
        let trace: TraceID = server.random.identifier(at: now)
        self.trace = trace
        (confirmation, session) = (Secret("\(family.id)"), Secret("\(family.id)"))
        emailCode = try AccountCode(wireText: server.random.code(AccountCode.length))
        phone = try PhoneNumber(wireText: "+447700900\(100 + family.id.low % 900)")
        phoneCode = try PhoneCode(wireText: PhoneCodes.make(server.random))
        try await server.sql(
            """
            INSERT INTO ai_executions (family_id, user_id, created_at, id, trace_id, operation, route, report)
            VALUES (\(family.id), \(creator.id), \(now), \(trace), \(trace), 'digest', 'cloud',
                    \(String(decoding: ExecutionReport.example.jsonBytes, as: UTF8.self))::json)
            """)
        try await server.sql(
            """
            INSERT INTO ai_confirmations (digest, family_id, user_id, request_digest, expires_at)
            VALUES (\(AITokens.digest(confirmation)), \(family.id), \(family.guardian.id), '', \(now + .minutes(1)))
            """)
        try await server.sql(
            """
            INSERT INTO ai_sessions (digest, family_id, user_id, created_at, used_at)
            VALUES (\(AITokens.digest(session)), \(family.id), \(family.guardian.id), \(now), \(now))
            """)
        drafts = try await DraftScene(by: creator, to: recipient, in: family.id, server)
        for person in people.values where person.familyID != nil { try await server.enableGamification(person) }
        try await server.setPasswords()
        try await server.sql(
            """
            INSERT INTO account_codes (code_hash, user_id, purpose, new_email, created_at, expires_at)
            VALUES (\(AccountCodes.hash(emailCode.wireText, for: .emailChange)), \(family.guardian.id), 'email_change',
                    \("\(emailCode.wireText.lowercased())@example.org"), \(now), \(now + AccountCodes.lifetime))
            """)
        let hash = PhoneCodes.hashes(phoneCode.wireText, of: family.guardian.id, for: phone.wireText, server.tokens)[0]
        try await server.sql(
            """
            INSERT INTO phone_codes (user_id, phone, code_hash, attempts, expires_at)
            VALUES (\(family.guardian.id), \(phone.wireText), \(hash), 0, \(now + PhoneCodes.lifetime))
            """)
        try await server.insertInnerKey(of: family.guardian)
        try await server.write([.demoSeeded], by: family.guardian, in: family.id)
    }

    func person(_ requester: MatrixRequester) throws -> TestPerson { try #require(people[requester]) }
}

/// One row of the role matrix: an operation, a request for it, and who may make it. An operation whose right depends on
/// whom it is about has a row for each.
struct MatrixRow: Sendable, CustomTestStringConvertible {
    /// Whose things a request is about.
    enum Concern: Sendable {
        /// A family's: for others it does not exist, or they may not.
        case family
        /// Only the caller's own, or whoever holds a code: who asks, asks for themself.
        case caller
    }

    let operation: Contract.Operation
    /// What sets this row apart from others of the operation.
    let detail: String
    let concern: Concern
    let allowed: Set<MatrixRequester>
    /// How everybody else of the family is refused.
    let refusals: Set<Int>
    let request: @Sendable (Scene) -> (target: String, content: [UInt8])

    var testDescription: String { detail.isEmpty ? operation.id : "\(operation.id): \(detail)" }

    /// What an account that waits for a guardian is answered: to join a family ends the waiting, and the caller's own
    /// account says that it waits.
    var statusForWaitingAccounts: Int {
        switch operation.id {
        case "joinFamily", "joinFamilyByID": 404
        case "getMe": 200
        default: 403
        }
    }

    init<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>, _ detail: String = "", concern: Concern = .family,
        allowed: Set<MatrixRequester>, refusals: Set<Int> = [403, 404],
        _ request: @escaping @Sendable (Scene) -> (Parameters, Body)
    ) {
        operation = endpoint.operation
        self.detail = detail
        self.concern = concern
        self.allowed = allowed
        self.refusals = refusals
        self.request = { scene in
            let (parameters, body) = request(scene)
            let made = endpoint.request(parameters, body)
            return (made.target, made.body)
        }
    }

    static func pin(_ text: String) -> PIN {
        guard let pin = try? PIN(wireText: text) else { preconditionFailure("four digits") }
        return pin
    }

    static func family(_ scene: Scene) -> FamilyPath { FamilyPath(familyID: scene.family.id) }
    static func inFamily(_ scene: Scene) -> FamilyQuery { FamilyQuery(familyID: scene.family.id) }
    static func child(_ scene: Scene) -> MemberPath {
        MemberPath(familyID: scene.family.id, userID: scene.family.child.id)
    }
    static func ofChild(_ scene: Scene) -> MemberPreferencesPath {
        MemberPreferencesPath(userID: scene.family.child.id, familyID: scene.family.id)
    }
    static func childQuery(_ scene: Scene) -> UserInFamilyQuery {
        UserInFamilyQuery(userID: scene.family.child.id, familyID: scene.family.id)
    }
    static func nag(_ scene: Scene) -> NagPath { NagPath(nagID: scene.nag) }
}
