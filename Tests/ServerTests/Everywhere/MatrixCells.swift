import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server

/// What the requests of the matrix are about: a family with one of everything in it.
struct Scene: Sendable {
    let family: Household
    let nag: NagID
    let block: BlockID
    let consent: ConsentID
    let relationship: RelationshipID

    init(_ server: TestServer) async throws {
        let family = try await server.family()
        self.family = family
        nag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
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
        try await server.enableGamification(family.guardian)
        try await server.write(["scene.made"], by: family.guardian, in: family.id)
    }
}

/// One row of the authorisation matrix: an operation, a request for it that somebody is entitled to make, and what
/// becomes of the same request from people it is none of the business of.
struct MatrixRow: Sendable, CustomTestStringConvertible {
    /// Whose things a request is about.
    enum Concern: Sendable {
        /// A family's: for others it does not exist, or they may not.
        case family
        /// Only the caller's own, or whoever holds a code: who asks, asks for themself.
        case caller
    }

    let operation: Contract.Operation
    let concern: Concern
    /// Who gets an answer that is no refusal; nil where it takes more than a request (a code, a PIN).
    let entitled: (@Sendable (Household) -> Person)?
    let request: @Sendable (Scene) -> (target: String, content: [UInt8])

    var testDescription: String { operation.id }

    /// Whether an account that waits for a guardian may ask for it: to join a family ends the waiting.
    var isForWaitingAccounts: Bool { operation.id == "joinFamily" || operation.id == "joinFamilyByID" }

    private init<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>, _ concern: Concern = .family,
        by entitled: (@Sendable (Household) -> Person)? = { $0.guardian },
        _ request: @escaping @Sendable (Scene) -> (Parameters, Body)
    ) {
        operation = endpoint.operation
        self.concern = concern
        self.entitled = entitled
        self.request = { scene in
            let (parameters, body) = request(scene)
            let made = endpoint.request(parameters, body)
            return (made.target, made.body)
        }
    }

    /// Every bearer operation has its row.
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

    private static let people: [MatrixRow] = [
        MatrixRow(API.getPreferences) { (inFamily($0), NoBody()) },
        MatrixRow(API.updatePreferences) { (inFamily($0), PreferenceUpdate(preferences: ["tone": "firm"])) },
        MatrixRow(API.getMemberPreferences) { (ofChild($0), NoBody()) },
        MatrixRow(API.updateMemberPreferences) { (ofChild($0), PreferenceUpdate(preferences: ["tone": "firm"])) },
        MatrixRow(API.deleteAccount) { (AccountPath(userID: $0.family.child.id), NoBody()) },
        MatrixRow(API.createFamily, .caller, by: nil) { _ in (NoParameters(), FamilyCreate(name: "Second")) },
        MatrixRow(API.getFamily) { (family($0), NoBody()) },
        MatrixRow(API.updateFamily) { (family($0), FamilyUpdate(timeZone: "Europe/Berlin")) },
        MatrixRow(API.joinFamily, .caller, by: nil) { _ in (NoParameters(), JoinRequest(inviteCode: "NOSUCHCODE")) },
        MatrixRow(API.joinFamilyByID, .caller, by: nil) { (family($0), JoinRequest(inviteCode: "NOSUCHCODE")) },
        MatrixRow(API.addMember) { (family($0), MemberAdd(userID: $0.family.participant.id, role: .guardian)) },
        MatrixRow(API.listMembers) { (FamilyMembersQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.createMember) { (family($0), MemberCreateAndAdd(displayName: "Nina", role: .child)) },
        MatrixRow(API.removeMember) { (child($0), NoBody()) },
        MatrixRow(API.leaveFamily) { (family($0), NoBody()) },
        MatrixRow(API.renewFamilyCode) { (family($0), CodeRenewal(code: .child)) },
        MatrixRow(API.setChildCredentials) { (child($0), ChildCredentialsSet(username: "cleo", pin: pin("1234"))) },
        MatrixRow(API.unlockMember) { (child($0), NoBody()) },
        MatrixRow(API.changePIN, by: nil) {
            (child($0), PinChangeRequest(currentPin: pin("1234"), newPin: pin("4321")))
        },
        MatrixRow(API.getChildSettings) { (child($0), NoBody()) },
        MatrixRow(API.updateChildSettings) { (child($0), ChildSettingsUpdate(canSnooze: false)) },
        MatrixRow(API.listBlocks, .caller) { _ in (PageRequest(), NoBody()) },
        MatrixRow(API.createBlock, .caller) { (NoParameters(), BlockCreate(targetID: $0.family.participant.id)) },
        MatrixRow(API.updateBlock) { (BlockPath(blockID: $0.block), BlockUpdate(state: .lifted)) },
        MatrixRow(API.suspendRelationship) { (RelationshipPath(relationshipID: $0.relationship), NoBody()) },
        MatrixRow(API.listConnections, .caller) { _ in (ConnectionListQuery(status: .active), NoBody()) },
        MatrixRow(API.listConsents) { (ConsentListQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.grantConsent) {
            (NoParameters(), ConsentCreate(familyID: $0.family.id, type: .gamificationParticipation))
        },
        MatrixRow(API.updateConsent) { (ConsentPath(consentID: $0.consent), ConsentUpdate(revoked: true)) },
    ]

    private static let nags: [MatrixRow] = [
        MatrixRow(API.createNag) { scene in
            (
                NoParameters(),
                NagCreate(
                    familyID: scene.family.id, recipientID: scene.family.child.id, dueAt: ManualClock.start + .hours(5),
                    category: .chores, doneDefinition: .acknowledgeOnly)
            )
        },
        MatrixRow(API.listNags) { (NagListQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.getNag) { (NagPath(nagID: $0.nag), NoBody()) },
        MatrixRow(API.updateNag) { (NagPath(nagID: $0.nag), NagUpdate(category: .homework)) },
        MatrixRow(API.updateNagStatus, by: { $0.child }) {
            (NagPath(nagID: $0.nag), NagStatusUpdate(status: .completed))
        },
        MatrixRow(API.withdrawNag) { (NagPath(nagID: $0.nag), NoBody()) },
        MatrixRow(API.dismissNag, by: { $0.child }) { (NagPath(nagID: $0.nag), NoBody()) },
        MatrixRow(API.undismissNag, by: { $0.child }) { (NagPath(nagID: $0.nag), NoBody()) },
        MatrixRow(API.submitExcuse, by: { $0.child }) { (NagPath(nagID: $0.nag), ExcuseCreate(text: "I forgot")) },
        MatrixRow(API.listExcuses) { (ExcuseListQuery(nagID: $0.nag), NoBody()) },
    ]

    private static let figures: [MatrixRow] = [
        MatrixRow(API.getGamificationSummary) { (inFamily($0), NoBody()) },
        MatrixRow(API.getLeaderboard) { (inFamily($0), NoBody()) },
        MatrixRow(API.listGamificationEvents) {
            (GamificationEventsQuery(userID: $0.family.child.id, familyID: $0.family.id), NoBody())
        },
        MatrixRow(API.listBadges) { (childQuery($0), NoBody()) },
        MatrixRow(API.getWeeklyReport) { (inFamily($0), NoBody()) },
        MatrixRow(API.getFamilyMetrics) { (FamilyMetricsQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.syncEvents) { (SyncQuery(familyID: $0.family.id, facts: true), NoBody()) },
        MatrixRow(API.uploadEvents, by: { $0.child }) { scene in
            let item = OutboxItem(
                clientID: InputID(high: 7, low: 7), nagID: scene.nag, act: .status(.completed, note: nil),
                madeAt: ManualClock.start)
            return (NoParameters(), OutboxUpload(familyID: scene.family.id, items: [item]))
        },
        MatrixRow(API.listAuditEvents) { (AuditQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.exportAuditEvents) {
            (AuditEventsExportQuery(filter: AuditQuery(familyID: $0.family.id)), NoBody())
        },
        MatrixRow(API.listAuditPeople) { (AuditScopeQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.listAuditConsents) { (inFamily($0), NoBody()) },
        MatrixRow(API.getAuditEvent) { (AuditEntryPath(familyID: $0.family.id, n: 1), NoBody()) },
        MatrixRow(API.exportAuditTrail) { (AuditExportQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.verifyAuditTrail) { (AuditScopeQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.getAuditStatus, .caller) { _ in (NoParameters(), NoBody()) },
        MatrixRow(API.listAuditFamilies, .caller) { _ in (AuditFamiliesQuery(), NoBody()) },
        MatrixRow(API.getAuditActivity) { (AuditActivityQuery(familyID: $0.family.id), NoBody()) },
    ]

    private static let mediation: [MatrixRow] = [
        MatrixRow(API.summarizeExcuse, by: { $0.child }) {
            (NoParameters(), ExcuseSummaryRequest(text: "I forgot", nagID: $0.nag))
        },
        MatrixRow(API.selectTone) { (NoParameters(), ToneSelectRequest(nagID: $0.nag)) },
        MatrixRow(API.coach, by: { $0.child }) { (NoParameters(), CoachingRequest(nagID: $0.nag)) },
        MatrixRow(API.detectPatterns) { (childQuery($0), NoBody()) },
        MatrixRow(API.generateDigest) { (inFamily($0), NoBody()) },
        MatrixRow(API.predictCompletion) { (NagQuery(nagID: $0.nag), NoBody()) },
        MatrixRow(API.evaluatePushBack) { (NoParameters(), PushBackRequest(nagID: $0.nag)) },
    ]
}
