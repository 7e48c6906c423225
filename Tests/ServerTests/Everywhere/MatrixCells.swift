import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server

/// Who asks, as the role matrix tells people apart. Everybody but the administrator is a member of the family.
enum Requester: String, CaseIterable, Sendable {
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

extension Set<Requester> {
    static let everybody = Set(Requester.allCases)
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
    let people: [Requester: Person]
    let administrator: Person
    /// From the creator to the recipient.
    let nag: NagID
    /// From the guardian to the child.
    let childNag: NagID
    /// The guardian's, of somebody of another family.
    let block: BlockID
    /// The guardian's.
    let consent: ConsentID
    let relationship: RelationshipID

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
        relationship = try await server.database.rows(
            "SELECT id FROM relationships WHERE family_id = \(family.id) ORDER BY id LIMIT 1"
        ) { try $0["id"] }[0]
        for person in people.values where person.familyID != nil { try await server.enableGamification(person) }
        try await server.write([.demoSeeded], by: family.guardian, in: family.id)
    }

    func person(_ requester: Requester) throws -> Person { try #require(people[requester]) }
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
    let allowed: Set<Requester>
    /// How everybody else of the family is refused.
    let refusals: Set<Int>
    let request: @Sendable (Scene) -> (target: String, content: [UInt8])

    var testDescription: String { detail.isEmpty ? operation.id : "\(operation.id): \(detail)" }

    /// Whether an account that waits for a guardian may ask for it: to join a family ends the waiting.
    var isForWaitingAccounts: Bool { operation.id == "joinFamily" || operation.id == "joinFamilyByID" }

    private init<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>, _ detail: String = "", concern: Concern = .family,
        allowed: Set<Requester>, refusals: Set<Int> = [403, 404],
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

    /// Every bearer operation has its rows.
    static let all: [MatrixRow] = people + nags + figures + mediation

    private static func pin(_ text: String) -> PIN {
        guard let pin = try? PIN(wireText: text) else { preconditionFailure("four digits") }
        return pin
    }

    private static func family(_ scene: Scene) -> FamilyPath { FamilyPath(familyID: scene.family.id) }
    private static func inFamily(_ scene: Scene) -> FamilyQuery { FamilyQuery(familyID: scene.family.id) }
    private static func child(_ scene: Scene) -> MemberPath {
        MemberPath(familyID: scene.family.id, userID: scene.family.child.id)
    }
    private static func ofChild(_ scene: Scene) -> MemberPreferencesPath {
        MemberPreferencesPath(userID: scene.family.child.id, familyID: scene.family.id)
    }
    private static func childQuery(_ scene: Scene) -> UserInFamilyQuery {
        UserInFamilyQuery(userID: scene.family.child.id, familyID: scene.family.id)
    }
    private static func nag(_ scene: Scene) -> NagPath { NagPath(nagID: scene.nag) }

    private static let people: [MatrixRow] = [
        MatrixRow(API.getPreferences, allowed: .members) { (inFamily($0), NoBody()) },
        MatrixRow(API.updatePreferences, allowed: .members) {
            (inFamily($0), PreferenceUpdate(preferences: ["tone": "firm"]))
        },
        MatrixRow(API.getMemberPreferences, allowed: .guardians.union([.child])) { (ofChild($0), NoBody()) },
        MatrixRow(API.updateMemberPreferences, allowed: .guardians.union([.child])) {
            (ofChild($0), PreferenceUpdate(preferences: ["tone": "firm"]))
        },
        MatrixRow(API.deleteAccount, "a child's", allowed: .guardians) {
            (AccountPath(userID: $0.family.child.id), NoBody())
        },
        MatrixRow(API.deleteAccount, "a participant's", allowed: [.participant]) {
            (AccountPath(userID: $0.family.participant.id), NoBody())
        },
        MatrixRow(API.deleteAccount, "a guardian's", allowed: [.coGuardian]) {
            (AccountPath(userID: $0.family.secondGuardian.id), NoBody())
        },
        MatrixRow(API.createFamily, concern: .caller, allowed: [.administrator], refusals: [409]) { _ in
            (NoParameters(), FamilyCreate(name: "Second"))
        },
        MatrixRow(API.getFamily, allowed: .members) { (family($0), NoBody()) },
        MatrixRow(API.updateFamily, allowed: .guardians) {
            (family($0), FamilyUpdate(timeZone: "Europe/Berlin"))
        },
        MatrixRow(API.joinFamily, "without its code", concern: .caller, allowed: []) { _ in
            (NoParameters(), JoinRequest(inviteCode: "NOSUCHCODE"))
        },
        MatrixRow(API.joinFamilyByID, "without its code", concern: .caller, allowed: []) {
            (family($0), JoinRequest(inviteCode: "NOSUCHCODE"))
        },
        MatrixRow(API.addMember, "a participant as a guardian", allowed: .guardians) {
            (family($0), MemberAdd(userID: $0.family.participant.id, role: .guardian))
        },
        MatrixRow(API.addMember, "a child as a guardian", allowed: [], refusals: [403, 404, 409]) {
            (family($0), MemberAdd(userID: $0.family.child.id, role: .guardian))
        },
        MatrixRow(API.addMember, "somebody with a sign-in of their own", allowed: []) {
            (family($0), MemberAdd(userID: $0.family.removed.id, role: .participant))
        },
        MatrixRow(API.addMember, "an administrator", allowed: []) {
            (family($0), MemberAdd(userID: $0.administrator.id, role: .child))
        },
        MatrixRow(API.listMembers, allowed: .members) { (FamilyMembersQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.createMember, allowed: .guardians) {
            (family($0), MemberCreateAndAdd(displayName: "Nina", role: .child))
        },
        MatrixRow(API.removeMember, "a child", allowed: .guardians) { (child($0), NoBody()) },
        MatrixRow(API.removeMember, "a participant", allowed: .guardians) {
            (MemberPath(familyID: $0.family.id, userID: $0.family.participant.id), NoBody())
        },
        MatrixRow(API.removeMember, "a guardian", allowed: .guardians) {
            (MemberPath(familyID: $0.family.id, userID: $0.family.secondGuardian.id), NoBody())
        },
        MatrixRow(API.leaveFamily, allowed: .adults) { (family($0), NoBody()) },
        MatrixRow(API.renewFamilyCode, allowed: .guardians) { (family($0), CodeRenewal(code: .child)) },
        MatrixRow(API.unlockMember, allowed: .guardians) { (child($0), NoBody()) },
        MatrixRow(API.setChildCredentials, "a child's", allowed: .guardians) {
            (child($0), ChildCredentialsSet(username: "cleo", pin: pin("1234")))
        },
        MatrixRow(API.setChildCredentials, "a participant's", allowed: [], refusals: [403, 404, 422]) {
            (
                MemberPath(familyID: $0.family.id, userID: $0.family.participant.id),
                ChildCredentialsSet(username: "pat", pin: pin("1234"))
            )
        },
        MatrixRow(API.changePIN, "without a PIN", allowed: []) {
            (child($0), PinChangeRequest(currentPin: pin("1234"), newPin: pin("4321")))
        },
        MatrixRow(API.getChildSettings, allowed: .guardians.union([.child])) { (child($0), NoBody()) },
        MatrixRow(API.updateChildSettings, allowed: .guardians) { (child($0), ChildSettingsUpdate(canSnooze: false)) },
        MatrixRow(API.listBlocks, concern: .caller, allowed: .everybody) { _ in (PageRequest(), NoBody()) },
        MatrixRow(API.createBlock, concern: .caller, allowed: .everybody.subtracting([.participant]), refusals: [422]) {
            (NoParameters(), BlockCreate(targetID: $0.family.participant.id))
        },
        MatrixRow(API.updateBlock, allowed: [.guardian]) {
            (BlockPath(blockID: $0.block), BlockUpdate(state: .lifted))
        },
        MatrixRow(API.suspendRelationship, allowed: .guardians) {
            (RelationshipPath(relationshipID: $0.relationship), NoBody())
        },
        MatrixRow(API.listConnections, concern: .caller, allowed: .everybody) { _ in
            (ConnectionListQuery(status: .active), NoBody())
        },
        MatrixRow(API.listConsents, allowed: .members) { (ConsentListQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.grantConsent, "to games", allowed: .adults) {
            (NoParameters(), ConsentCreate(familyID: $0.family.id, type: .gamificationParticipation))
        },
        MatrixRow(API.grantConsent, "to children's accounts", allowed: .guardians) {
            (NoParameters(), ConsentCreate(familyID: $0.family.id, type: .childAccountCreation))
        },
        MatrixRow(API.updateConsent, "a guardian's", allowed: .guardians) {
            (ConsentPath(consentID: $0.consent), ConsentUpdate(revoked: true))
        },
    ]

    private static let nags: [MatrixRow] = [
        MatrixRow(API.createNag, allowed: .adults) { scene in
            (
                NoParameters(),
                NagCreate(
                    familyID: scene.family.id, recipientID: scene.family.child.id, dueAt: ManualClock.start + .hours(5),
                    category: .chores, doneDefinition: .acknowledgeOnly)
            )
        },
        MatrixRow(API.listNags, allowed: .members) { (NagListQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.getNag, "a participant's", allowed: .readers) { (nag($0), NoBody()) },
        MatrixRow(API.getNag, "a child's", allowed: .readersOfChild) { (NagPath(nagID: $0.childNag), NoBody()) },
        MatrixRow(API.updateNag, "its category", allowed: .guardians.union([.creator])) {
            (nag($0), NagUpdate(category: .homework))
        },
        MatrixRow(API.updateNag, "its time only", allowed: .readers) {
            (nag($0), NagUpdate(dueAt: ManualClock.start + .minutes(130)))
        },
        MatrixRow(API.updateNag, "the promised time", allowed: [.recipient]) {
            (nag($0), NagUpdate(committedAt: .value(ManualClock.start + .minutes(130))))
        },
        MatrixRow(API.updateNagStatus, "a participant's", allowed: [.recipient]) {
            (nag($0), NagStatusUpdate(status: .completed))
        },
        MatrixRow(API.updateNagStatus, "a child's", allowed: [.child]) {
            (NagPath(nagID: $0.childNag), NagStatusUpdate(status: .completed))
        },
        MatrixRow(API.withdrawNag, allowed: [.creator]) { (nag($0), NoBody()) },
        MatrixRow(API.dismissNag, allowed: [.recipient]) { (nag($0), NoBody()) },
        MatrixRow(API.undismissNag, allowed: [.recipient]) { (nag($0), NoBody()) },
        MatrixRow(API.submitExcuse, "a participant's", allowed: [.recipient]) {
            (nag($0), ExcuseCreate(text: "I forgot"))
        },
        MatrixRow(API.submitExcuse, "a child's", allowed: [.child]) {
            (NagPath(nagID: $0.childNag), ExcuseCreate(text: "I forgot"))
        },
        MatrixRow(API.listExcuses, allowed: .readers) { (ExcuseListQuery(nagID: $0.nag), NoBody()) },
    ]

    private static let figures: [MatrixRow] = [
        MatrixRow(API.getGamificationSummary, allowed: .members) { (inFamily($0), NoBody()) },
        MatrixRow(API.getLeaderboard, allowed: .members) { (inFamily($0), NoBody()) },
        MatrixRow(API.listGamificationEvents, allowed: .guardians.union([.child])) {
            (GamificationEventsQuery(userID: $0.family.child.id, familyID: $0.family.id), NoBody())
        },
        MatrixRow(API.listBadges, allowed: .guardians.union([.child])) { (childQuery($0), NoBody()) },
        MatrixRow(API.getWeeklyReport, allowed: .guardians) { (inFamily($0), NoBody()) },
        MatrixRow(API.getFamilyMetrics, allowed: .guardians) { (FamilyMetricsQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.syncEvents, allowed: .members) { (SyncQuery(familyID: $0.family.id, facts: true), NoBody()) },
        MatrixRow(API.uploadEvents, allowed: .members) { scene in
            let item = OutboxItem(
                clientID: InputID(high: 7, low: 7), nagID: scene.nag, act: .status(.completed, note: nil),
                madeAt: ManualClock.start)
            return (NoParameters(), OutboxUpload(familyID: scene.family.id, items: [item]))
        },
        MatrixRow(API.listAuditEvents, allowed: .auditors) { (AuditQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.exportAuditEvents, allowed: .auditors) {
            (AuditEventsExportQuery(filter: AuditQuery(familyID: $0.family.id)), NoBody())
        },
        MatrixRow(API.listAuditPeople, allowed: .auditors) { (AuditScopeQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.listAuditConsents, allowed: .auditors) { (inFamily($0), NoBody()) },
        MatrixRow(API.getAuditEvent, allowed: .auditors) {
            (AuditEntryPath(familyID: $0.family.id, n: 1), NoBody())
        },
        MatrixRow(API.exportAuditLog, allowed: .auditors) { (AuditExportQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.verifyAuditLog, allowed: .auditors) { (AuditScopeQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.getAuditStatus, concern: .caller, allowed: .auditors) { _ in (NoParameters(), NoBody()) },
        MatrixRow(API.listAuditFamilies, concern: .caller, allowed: .auditors) { _ in (AuditFamiliesQuery(), NoBody())
        },
        MatrixRow(API.getAuditActivity, allowed: .auditors) {
            (AuditActivityQuery(familyID: $0.family.id), NoBody())
        },
    ]

    private static let mediation: [MatrixRow] = [
        MatrixRow(API.summarizeExcuse, allowed: .readers) {
            (NoParameters(), ExcuseSummaryRequest(text: "I forgot", nagID: $0.nag))
        },
        MatrixRow(API.selectTone, "a participant's nag", allowed: .readers) {
            (NoParameters(), ToneSelectRequest(nagID: $0.nag))
        },
        MatrixRow(API.selectTone, "a child's nag", allowed: .readersOfChild) {
            (NoParameters(), ToneSelectRequest(nagID: $0.childNag))
        },
        MatrixRow(API.coach, allowed: .readers) { (NoParameters(), CoachingRequest(nagID: $0.nag)) },
        MatrixRow(API.detectPatterns, allowed: .guardians.union([.child])) { (childQuery($0), NoBody()) },
        MatrixRow(API.generateDigest, allowed: .members) { (inFamily($0), NoBody()) },
        MatrixRow(API.predictCompletion, allowed: .readers) { (NagQuery(nagID: $0.nag), NoBody()) },
        MatrixRow(API.evaluatePushBack, "a participant's nag", allowed: .guardians.union([.creator])) {
            (NoParameters(), PushBackRequest(nagID: $0.nag))
        },
        MatrixRow(API.evaluatePushBack, "a child's nag", allowed: .guardians) {
            (NoParameters(), PushBackRequest(nagID: $0.childNag))
        },
    ]
}
