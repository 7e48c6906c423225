import Audit
import Contract
import Domain
import NagzAI
import Postgres
import TimeZones

/// The facts about one nag at one moment, and the caller's right to see them.
final class NagConsultation {
    let requester: Requester
    /// The ledger that the nag is in: its family's or its connection's. All facts about the recipient's history are
    /// from there, so that nobody outside a family learns of its nags.
    let ledger: FamilyID
    let recipient: Pseudonym?
    /// The reason for which the caller gets no answer, with its error code; nil when they get one.
    let denial: (reason: Denial, code: ErrorCode)?
    private(set) var snapshot: Snapshot<NagFacts>

    /// - Throws: 404 unless the nag belongs to the caller's family, or to a connection and the caller has a part in the
    ///   nag; 403 when nothing denies the caller `act`, but the consent is missing or the preferences switch the AI
    ///   off.
    init(
        _ row: Row, _ nag: NagID, for caller: Caller, _ act: NagAct, _ depth: FactDepth, zones: ZoneTable
    ) throws {
        try Access.requireActive(status: try row["account_status"])
        guard let recipientID: UserID = try row["recipient_id"], let family: FamilyID = try row["family_id"] else {
            throw APIError.noSuchNag
        }
        let part = try NagPart(row, for: caller, try row["creator_id"], recipientID)
        if part.isEmpty, try row["connection_id"] as ConnectionID? != nil { throw APIError.noSuchNag }
        if let reason = RoleMatrix.denial(of: act, by: part) {
            denial = (reason, .authorizationDenied)
        } else if act == .askForPushBack,
            let reason = RoleMatrix.denialOfContact(
                relationship: try row["relationship"], isBlocked: try row["is_blocked"])
        {
            denial = (reason, .policyForbidden)
        } else {
            denial = nil
        }
        if denial == nil { try Requester.requireAIAllowed(row) }
        let settings = try AISettings(row)
        requester = Requester(pseudonym: try row["pseudonym"], seq: try row["seq"], settings: settings)
        ledger = family
        recipient = try row["recipient_pseudonym"]
        var facts = NagFacts(
            nag: NagSnapshot(
                id: nag, familyID: family, recipientID: recipientID, category: try row["category"],
                status: try row["status"], dueAt: try row["due_at"], createdAt: try row["created_at"]))
        var zone: any ZoneRules = UniversalTime()
        if depth != .none {
            facts.missCount7d = try row["misses"]
            facts.streak = try row["streak"]
        }
        if depth == .full {
            facts.timeConflictCount7d = try row["time_conflicts"]
            facts.categoryRecord = CompletionRecord(
                resolved: try row["category_total"], completed: try row["category_completed"])
            facts.recentCategoryRecord = CompletionRecord(
                resolved: try row["recent_total"], completed: try row["recent_completed"])
            facts.overallRecord = CompletionRecord(
                resolved: try row["overall_total"], completed: try row["overall_completed"])
            facts.cyclePushBacks = try row.list("push_backs") ?? []
            facts.earlierPushBack = try row["earlier_push_back"]
            facts.policy = try FamilyPolicy(
                dailyNagCap: try row["daily_cap"], maxSnoozeMinutes: try row["max_snooze_minutes"],
                pointsMultiplier: try row["points_multiplier"], maxPushBacksPerNag: try row["max_pushback"],
                pushBackCooldownMinutes: try row["cooldown_minutes"])
            let stored: StoredPreferences = try row["recipient_prefs"]
            let familyZone: String = try row["time_zone"] ?? Preferences.standardTimeZone
            facts.preferences = stored.effective(familyZone: familyZone, childQuietHours: try QuietHours(ofChild: row))
            zone = zones.zoneOrUTC(facts.preferences.timeZone)
        }
        snapshot = Snapshot(facts, now: caller.now, zone: zone)
    }

    /// Adds the turns of the AI session that the question belongs to.
    func setSessionTurns(_ turns: [SessionTurn]) { snapshot.facts.sessionTurns = turns }

    /// Returns the decision that refuses the operation and records the refusal in the audit log.
    func refuse<Answer>(_ kind: AuditKind, _ denial: (reason: Denial, code: ErrorCode)) -> Decision<Answer> {
        .refuse(
            .denial(
                kind, basis: .rightsUnchanged(since: requester.seq), actor: requester.pseudonym, subject: recipient,
                resource: snapshot.facts.nag.id.retyped(), reason: denial.reason.rawValue),
            APIError(denial.code, denial.reason))
    }
}
