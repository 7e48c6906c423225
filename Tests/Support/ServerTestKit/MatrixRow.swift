import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server

/// A requester of the role matrix. All but the administrator are members of the family.
enum MatrixRequester: String, CaseIterable, Sendable {
    case guardian
    case coGuardian = "co-guardian"
    /// The participant who created the scene's nag.
    case creator
    /// The participant who is the recipient of the scene's nag.
    case recipient
    /// A participant who is neither the creator nor the recipient of the scene's nag.
    case participant
    /// The child whom requests about a member concern. The child is the recipient of `childNag`.
    case child
    /// Another child, whom no request concerns.
    case sibling
    /// An administrator, who is in no family.
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
    /// Those who may read the child's nag, which the guardian created.
    static let readersOfChild = guardians.union([.child])
}

/// The data that the matrix's requests concern: a family with one object of each kind.
struct Scene: Sendable {
    let family: Household
    let people: [MatrixRequester: TestPerson]
    let administrator: TestPerson
    /// From the creator to the recipient.
    let nag: NagID
    /// From the guardian to the child.
    let childNag: NagID
    /// The guardian's block of a person of another family.
    let block: BlockID
    /// The guardian's.
    let consent: ConsentID
    let relationship: RelationshipID
    /// The guardian's alone.
    let policy: PolicyID
    /// The participant's, about the co-guardian.
    let report: AbuseReportID
    /// A failed delivery.
    let delivery: DeliveryID
    let finding: AuditFindingID
    /// The guardian's.
    let device: DeviceID
    /// An invitation from a person without a family to the guardian.
    let invitation: ConnectionID
    /// An active caregiver's connection of the guardian with a person without a family.
    let connection: ConnectionID
    let incentiveRule: IncentiveRuleID
    /// Uploaded by the creator, for the nag.
    let attachment: AttachmentID
    /// A constraint of the family.
    let constraint: ConstraintID
    /// The trace of a question that the creator asked.
    let trace: TraceID
    /// The guardian's.
    let confirmation: Secret
    /// The guardian's.
    let session: Secret
    /// The guardian's, for another email address.
    let emailCode: AccountCode
    /// A number that nobody has: it is in a range for films.
    let phone: PhoneNumber
    /// The guardian's code for `phone`.
    let phoneCode: PhoneCode
    /// The creator's drafts of nags to the recipient: a new one, an approved one, and a confirmed one with its key.
    let drafts: DraftScene
    /// An event of the child that waits for a guardian's approval.
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

/// A row of the role matrix: an operation, a request for it, and the people who may send it. If the right to an
/// operation depends on the person whom a request concerns, the operation has several rows.
struct MatrixRow: Sendable, CustomTestStringConvertible {
    /// The owner of what a request concerns.
    enum Concern: Sendable {
        /// A family. For other people the object does not exist, or the request is forbidden.
        case family
        /// The caller, or the holder of a code: the request concerns only the person who sends it.
        case caller
    }

    let operation: Contract.Operation
    /// The difference from the operation's other rows; empty for an only row.
    let detail: String
    let concern: Concern
    let allowed: Set<MatrixRequester>
    /// The statuses with which other people of the scene are refused.
    let refusals: Set<Int>
    let request: @Sendable (Scene) -> (target: String, content: [UInt8])

    var testDescription: String { detail.isEmpty ? operation.id : "\(operation.id): \(detail)" }

    /// The status of the response to an account that waits for a guardian; nil where the operation records the call in
    /// the audit log. Such an account may join a family, which ends the waiting, and may read, export and delete itself.
    var statusForWaitingAccounts: Int? {
        switch operation.id {
        case "joinFamily", "joinFamilyByID": 404
        case "getMe": 200
        case "exportAccount": nil
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
