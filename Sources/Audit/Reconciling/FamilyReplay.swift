import Domain

/// The state of one family as its entries record it. Entries are applied in their order; nothing else is read.
public struct FamilyReplay: Sendable {
    struct Member: Sendable {
        /// The role; nil where the entry's details are erased.
        var role: String?
        var isActive: Bool
        /// The account that the entry names; nil in entries from before it did.
        var user: String?
        /// Whether the account was opened inside the family: nobody signs in to it without the family.
        var hasOwnSignIn = true
        /// The number of the last entry that changed the member.
        var number: Int64
    }

    struct Consent: Sendable {
        var person: Pseudonym?
        var type: String?
        var isRevoked = false
        let grantedBy: Int64
        var number: Int64
    }

    struct Nag: Sendable {
        let creator: Pseudonym
        let recipient: Pseudonym?
        var category: String?
        var dueAt: Timestamp?
        /// The status; nil where it cannot be determined.
        var status: String?
        var isDismissed = false
        /// 0 to 4: how far it has escalated; nil where it cannot be determined.
        var phase: Int? = 0
        var number: Int64?
    }

    struct Score: Sendable {
        let nag: ResourceID?
        let person: Pseudonym?
        /// The gain; nil where the entry's details are erased.
        let gain: Gain?
        let at: Timestamp
        let isCompletion: Bool

        struct Gain: Sendable {
            let points: Int64
            let streakDelta: Int64
        }

        var sums: ScoreSums {
            ScoreSums(
                points: gain?.points ?? 0, streak: gain?.streakDelta ?? 0, events: 1, completions: isCompletion ? 1 : 0)
        }
    }

    /// The effect of an incentive rule, under the id of its event.
    struct Incentive: Sendable {
        let note: IncentiveNote
        let nag: ResourceID?
        let person: Pseudonym?
        var isApplied: Bool
        /// The entry that gave it, or that says that it waits.
        var number: Int64
        /// The time at which the rule took effect, and the time of that entry.
        let promisedAt: Timestamp
        let at: Timestamp
    }

    struct Badge: Hashable, Sendable {
        let person: Pseudonym
        let type: String
    }

    /// A change of relationships, which are known by the members they lie between, and suspended by their ids.
    enum RelationshipChange: Sendable {
        case admitted(Pseudonym, others: [Pseudonym], liftsSuspensions: Bool, Int64)
        case departed(Pseudonym, Int64)
        case suspended(RelationshipID, subject: Pseudonym?, Int64)
    }

    public let family: FamilyID
    /// The last number that retention has deleted; 0 where it has deleted nothing.
    public let cut: Int64
    private(set) var members: [Pseudonym: Member] = [:]
    private(set) var consents: [ResourceID: Consent] = [:]
    private(set) var nags: [ResourceID: Nag] = [:]
    private(set) var scores: [Int64: Score] = [:]
    private(set) var badges: [Badge: Int64] = [:]
    private(set) var incentives: [ResourceID: Incentive] = [:]
    /// The versions of the incentive rules; nil where the entry's details are erased.
    private(set) var incentiveRules: [ResourceID: [IncentiveRuleVersion?]] = [:]
    private(set) var constraints = ConstraintReplay()
    private(set) var relationshipChanges: [RelationshipChange] = []
    private(set) var policyID: String?
    /// The policy; nil before the entry of the family's creation.
    private(set) var policy: PolicyReplay?
    /// The replay of the connection; nil unless the chain is a connection's and has the entry of its invitation.
    private(set) var connection: ConnectionReplay?
    private(set) var isFounded = false
    private(set) var erased: Set<Pseudonym> = []
    /// People some of whose entries have lost their details.
    private(set) var unread: Set<Pseudonym> = []
    /// Nags of which an entry without details may have recorded a next one.
    private(set) var unreadEnds: Set<ResourceID> = []
    /// Effects of incentive rules that an entry without details gave.
    private(set) var unreadIncentives: Set<ResourceID> = []
    /// The part of the log that could not be replayed.
    public var damage = ReplayDamage()
    /// Kinds that this version does not know.
    public private(set) var unknownKinds: Set<String> = []
    public private(set) var entries: Int64 = 0

    public init(family: FamilyID, cut: Int64 = 0) {
        self.family = family
        self.cut = cut
    }

    /// Whether an entry says that the person was erased.
    public func erased(_ person: Pseudonym) -> Bool { erased.contains(person) }

    /// - Parameter body: nil where it was erased or cannot be read.
    public mutating func apply(_ entry: AuditEntry, _ body: AuditBody?) {
        entries += 1
        let act = entry.act
        guard let effect = StateEffect(kind: act.kind) else {
            unknownKinds.insert(act.kind)
            return
        }
        if body == nil { unread.insert(act.subject ?? act.actor) }
        switch effect {
        case .none, .adminCreated, .adminRevoked, .accountCreated: break
        case .familyCreated:
            isFounded = true
            policyID = body?["policy"]
            policy = PolicyReplay(owner: act.subject ?? act.actor, number: entry.number)
            admit(entry, role: "guardian", body, liftsSuspensions: false)
        case .memberAdmitted(let lifts, let opensAccount):
            admit(entry, role: body?["role"], body, liftsSuspensions: lifts)
            if opensAccount, let person = act.subject { members[person]?.hasOwnSignIn = false }
        case .memberRaised: raise(entry, body)
        case .memberDeparted, .accountDeleted: depart(entry)
        case .nagsCancelled: cancel(entry, body?["cancelled_nags"].flatMap { Int($0) }, isKnown: body != nil)
        case .consentGranted:
            guard let id = act.resource else { return }
            consents[id] = Consent(
                person: act.subject, type: body?["type"], grantedBy: entry.number, number: entry.number)
        case .consentRevoked: revokeConsent(entry)
        case .relationshipSuspended:
            guard let id = act.resource else { return }
            relationshipChanges.append(.suspended(id.retyped(), subject: act.subject, entry.number))
        case .policyChanged: policy?.change(entry, body)
        case .policyProposed: policy?.propose(entry, body)
        case .policyApproved: policy?.approve(entry, body)
        case .connectionInvited: connection = ConnectionReplay(entry, body)
        case .connectionAccepted: connection?.accept(entry)
        case .connectionDeclined: connection?.end("declined", entry)
        case .connectionRevoked:
            connection?.end("revoked", entry)
            cancelNags(entry) { _ in true }
        case .connectionChanged:
            connection?.change(entry, body)
            endSharing(entry)
        case .incentiveRuleSet:
            guard let id = act.resource else { return }
            incentiveRules[id, default: []].append(body.flatMap { IncentiveRuleVersion($0, entry.number) })
        case .incentiveApproved: give(entry, body)
        case .constraintSet, .constraintDeleted, .constraintsReordered, .constraintsImported:
            constraints.apply(effect, entry, body)
        case .personErased: if let person = act.subject { erased.insert(person) }
        case .nagCreated, .nagEdited, .nagSnoozed, .nagCompleted, .nagEscalated, .nagMissed, .nagWithdrawn,
            .nagDismissed, .nagUndismissed:
            apply(effect, entry, body)
        }
    }

    // MARK: Members

    private mutating func admit(_ entry: AuditEntry, role: String?, _ body: AuditBody?, liftsSuspensions: Bool) {
        guard let person = entry.act.subject else { return }
        let others = members.filter { $0.value.isActive && $0.key != person }.map(\.key)
        relationshipChanges.append(
            .admitted(person, others: others, liftsSuspensions: liftsSuspensions, entry.number))
        var member = members[person] ?? Member(role: role, isActive: true, number: entry.number)
        (member.role, member.isActive, member.number) = (role, true, entry.number)
        member.user = body?["user"] ?? member.user
        members[person] = member
    }

    private mutating func raise(_ entry: AuditEntry, _ body: AuditBody?) {
        guard let person = entry.act.subject else { return }
        members[person]?.role = body?["role"]
        members[person]?.number = entry.number
        revokeConsents(of: person, entry)
    }

    private mutating func depart(_ entry: AuditEntry) {
        guard let person = entry.act.subject else { return }
        members[person]?.isActive = false
        members[person]?.number = entry.number
        relationshipChanges.append(.departed(person, entry.number))
        revokeConsents(of: person, entry)
        for (id, nag) in nags where nag.recipient == person && (nag.status == "open" || nag.status == nil) {
            nags[id]?.number = nag.status == nil ? nil : entry.number
            nags[id]?.status = "cancelled_relationship_change"
        }
        constraints.depart(person)
        let heirs = heirs(of: person)
        policy?.depart(person, heirs: heirs, entry)
    }

    /// Returns the people who may take over a policy from somebody.
    private func heirs(of person: Pseudonym) -> [Pseudonym] {
        members.filter {
            $0.value.isActive && $0.value.role ?? "guardian" == "guardian" && $0.value.hasOwnSignIn && $0.key != person
        }.map(\.key)
    }

    /// Cancels the connection's open nags to children once neither party shares children. It is uncertain where the
    /// entry's details are erased.
    private mutating func endSharing(_ entry: AuditEntry) {
        guard let connection else { return }
        let parties = [connection.inviter, connection.invitee]
        let isOver = connection.inviterSharesChildren == false && connection.inviteeSharesChildren == false
        guard isOver || connection.inviterSharesChildren == nil else { return }
        cancelNags(entry, isKnown: isOver) { !parties.contains($0.recipient) }
    }

    /// Cancels the connection's open nags.
    private mutating func cancelNags(
        _ entry: AuditEntry, isKnown: Bool = true, where isMeant: (Nag) -> Bool
    ) {
        for (id, nag) in nags where (nag.status == "open" || nag.status == nil) && isMeant(nag) {
            nags[id]?.number = isKnown && nag.status != nil ? entry.number : nil
            nags[id]?.status = isKnown ? "cancelled_relationship_change" : nil
        }
    }

    /// The nags with the lowest ids, as many as the entry says.
    private mutating func cancel(_ entry: AuditEntry, _ count: Int?, isKnown: Bool) {
        guard let person = entry.act.subject else { return }
        let open = nags.filter { $0.value.recipient == person && $0.value.status == "open" }.map(\.key)
        guard isKnown, let count else {
            for id in open { nags[id]?.status = nil }
            return
        }
        let sorted = open.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
        for id in sorted.prefix(max(0, count)) {
            nags[id]?.status = "cancelled_relationship_change"
            nags[id]?.number = entry.number
        }
    }

    private mutating func revokeConsents(of person: Pseudonym, _ entry: AuditEntry) {
        for (id, consent) in consents where consent.person == person && !consent.isRevoked {
            consents[id]?.isRevoked = true
            consents[id]?.number = entry.number
        }
    }

    private mutating func revokeConsent(_ entry: AuditEntry) {
        guard let id = entry.act.resource else { return }
        consents[id]?.isRevoked = true
        consents[id]?.number = entry.number
    }

    // MARK: Nags and points

    private mutating func apply(_ effect: StateEffect, _ entry: AuditEntry, _ body: AuditBody?) {
        guard let id = entry.act.resource else { return }
        if case .nagCreated = effect {
            nags[id] = Nag(
                creator: entry.act.actor, recipient: entry.act.subject, category: body?["category"],
                dueAt: body?["due_at"].flatMap { Timestamp(rfc3339: $0) }, status: "open", number: entry.number)
            return
        }
        nags[id]?.number = entry.number
        // The next instance of a series opens at another moment when the one before it is moved.
        if let next = body?["following_nag"].flatMap({ ResourceID($0) }) { nags[next]?.number = entry.number }
        switch effect {
        case .nagEdited:
            if let body {
                if let category = body["category"] { nags[id]?.category = category }
                if let due = body["due_at"] {
                    nags[id]?.dueAt = Timestamp(rfc3339: due)
                    nags[id]?.phase = 0
                }
            } else {
                nags[id]?.category = nil
                nags[id]?.dueAt = nil
                nags[id]?.phase = nil
            }
        case .nagSnoozed: nags[id]?.dueAt = body?["due_at"].flatMap { Timestamp(rfc3339: $0) }
        case .nagWithdrawn: nags[id]?.status = "withdrawn"
        case .nagDismissed: nags[id]?.isDismissed = true
        case .nagUndismissed: nags[id]?.isDismissed = false
        case .nagEscalated:
            nags[id]?.phase = body?["phase"].flatMap(EscalationPhase.init)?.number
            if let body { applyNextInstance(id, entry, body) } else { unreadEnds.insert(id) }
        case .nagCompleted: end(id, "completed", entry, body)
        case .nagMissed: end(id, "missed", entry, body)
        default: break
        }
    }

    /// Applies the end of a nag, its score for the recipient, and the next nag of its series.
    private mutating func end(_ id: ResourceID, _ status: String, _ entry: AuditEntry, _ body: AuditBody?) {
        nags[id]?.status = status
        let person = entry.act.subject
        guard let body else {
            unreadEnds.insert(id)
            scores[entry.number] = Score(
                nag: id, person: person, gain: nil, at: entry.at, isCompletion: status == "completed")
            return
        }
        if let points = body["points"].flatMap({ Int64($0) }), let delta = body["streak_delta"].flatMap({ Int64($0) }) {
            scores[entry.number] = Score(
                nag: id, person: person, gain: Score.Gain(points: points, streakDelta: delta), at: entry.at,
                isCompletion: status == "completed")
        }
        earnBadges(entry, body)
        for note in IncentiveNote.all(in: body) {
            incentives[note.event] = Incentive(
                note: note, nag: id, person: person, isApplied: note.isAutomatic, number: entry.number,
                promisedAt: entry.at, at: entry.at)
        }
        applyNextInstance(id, entry, body)
    }

    private mutating func earnBadges(_ entry: AuditEntry, _ body: AuditBody) {
        guard let person = entry.act.subject else { return }
        for type in (body["badges"] ?? "").split(separator: ",") {
            badges[Badge(person: person, type: String(type))] = entry.number
        }
    }

    /// A guardian's confirmation of what a rule gives.
    private mutating func give(_ entry: AuditEntry, _ body: AuditBody?) {
        guard let body else {
            if let id = entry.act.resource { unreadIncentives.insert(id) }
            return
        }
        earnBadges(entry, body)
        for note in IncentiveNote.all(in: body) {
            incentives[note.event] = Incentive(
                note: note, nag: body["nag"].flatMap { ResourceID($0) }, person: entry.act.subject, isApplied: true,
                number: entry.number, promisedAt: incentives[note.event]?.promisedAt ?? entry.at, at: entry.at)
        }
    }

    /// The next nag of a series, if the entry records one.
    private mutating func applyNextInstance(_ id: ResourceID, _ entry: AuditEntry, _ body: AuditBody) {
        if let next = body["next_nag"].flatMap({ ResourceID($0) }), let nag = nags[id] {
            nags[next] = Nag(
                creator: nag.creator, recipient: nag.recipient, category: nag.category,
                dueAt: body["next_due_at"].flatMap { Timestamp(rfc3339: $0) }, status: "open", number: entry.number)
        }
    }
}
