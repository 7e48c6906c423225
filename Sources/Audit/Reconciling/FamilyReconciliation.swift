import Domain

/// Compares the rows of one family with its entries, row by row, and reports each difference.
///
/// Rows may come in any order, except that relationships come after members and totals after points. Rows that the
/// entries record but that did not come are found at the end.
public struct FamilyReconciliation: Sendable {
    let replay: FamilyReplay
    var report = StateReport()
    private var relationships: ExpectedRelationships
    private var seenMembers: Set<Pseudonym> = []
    private var membersOfNobody = 0
    private var sums: [UserID: ScoreSums] = [:]
    var policies = 0
    var connections = 0
    private var openRows:
        (consents: Set<ResourceID>, nags: Set<ResourceID>, scores: Set<Int64>, badges: Set<FamilyReplay.Badge>)
    var openIncentives: OpenIncentives
    var openConstraints: Set<ResourceID>
    let retention: Timestamp?
    var dropped = DroppedPoints()
    /// The entry that changed the row under examination last, as the row says; nil where it does not say.
    var lastChange: Int64?

    /// - Parameters:
    ///   - relationships: the rows of relationships. Entries of admissions do not contain their IDs.
    ///   - retention: the moment before which retention has deleted points and incentives; nil for none.
    public init(_ replay: FamilyReplay, relationships: [RelationshipRow], deletedBefore retention: Timestamp? = nil) {
        self.replay = replay
        self.retention = retention
        self.relationships = ExpectedRelationships(replay, relationships)
        openRows = (
            Set(replay.consents.keys), Set(replay.nags.keys), Set(replay.scores.keys), Set(replay.badges.keys)
        )
        openIncentives = OpenIncentives(replay)
        openConstraints = Set(replay.constraints.constraints.keys)
        report.families = 1
        report.entries = replay.entries
        if let kind = replay.unknownKinds.min() {
            report.incomplete = "this version does not know entries of kind \(kind)"
        }
    }

    public mutating func check(_ row: StateRow) {
        report.rows += 1
        lastChange =
            switch row {
            case .nag(let row): row.changedBy
            case .score(let row): row.madeBy
            // Compared with the points, not with the log.
            case .totals: 0
            default: nil
            }
        switch row {
        case .member(let row): check(row)
        case .relationship(let row): check(row)
        case .consent(let row): check(row)
        case .nag(let row): check(row)
        case .score(let row): check(row)
        case .totals(let row): check(row)
        case .badge(let row): check(row)
        case .policy(let row): check(row)
        case .connection(let row): check(row)
        case .incentiveRule(let row): check(row)
        case .incentive(let row): check(row)
        case .constraint(let row): check(row)
        }
    }

    /// Returns the report, with the entries for which no row came.
    public mutating func finish() -> StateReport {
        lastChange = nil
        finishMembers()
        for (pair, status) in relationships.unseen where !pair.contains(where: replay.erased.contains) {
            addMissing(.relationship, pair.map(\.description).joined(separator: " – "), status.number)
        }
        for id in openRows.consents {
            guard let consent = replay.consents[id], let type = consent.type, type != Self.personalConsent else {
                continue
            }
            addMissing(.consent, id.description, consent.number)
        }
        for id in openRows.nags { addMissing(.nag, id.description, replay.nags[id]?.number) }
        for number in openRows.scores {
            guard let score = replay.scores[number], score.gain != nil else { continue }
            checkMissingPoints("\(number)", score.sums, of: score.person, at: score.at, number)
        }
        for badge in openRows.badges where !replay.erased.contains(badge.person) {
            addMissing(.badge, "\(badge.person) \(badge.type)", replay.badges[badge])
        }
        finishIncentives()
        finishConstraints()
        finishDropped()
        for user in sums.keys { addMissing(.totals, user.description, nil) }
        if policies == 0, replay.isFounded { addMissing(.policy, replay.policyID ?? "default", 1) }
        if connections == 0, let connection = replay.connection {
            addMissing(.connection, replay.family.description, connection.number)
        }
        return report
    }

    /// The type of a consent that is given for oneself alone, whatever family one is in: explained with the accounts,
    /// not with a family.
    private static let personalConsent = "sms_opt_in"

    // MARK: People

    private mutating func check(_ row: MemberRow) {
        let id = row.user.description
        guard let person = row.person else {
            membersOfNobody += 1
            return report.add(.erased)
        }
        seenMembers.insert(person)
        dropped.people[row.user] = person
        guard let member = replay.members[person] else { return addUnknown(.membership, id) }
        compare(
            .membership, id, "status", row.isActive ? "active" : "removed", member.isActive ? "active" : "removed",
            member.number)
        if let role = member.role {
            compare(.membership, id, "role", row.role, role, member.number)
        } else {
            addLostDetails(.membership, id, of: person)
        }
        if let user = member.user {
            compare(.account, id, "pseudonym", id, user, member.number)
        } else if isDamaged(person) {
            addLostDetails(.account, id, of: person)
        } else {
            report.add(.notRecorded)
        }
    }

    private mutating func finishMembers() {
        let unseen = replay.members.filter { !seenMembers.contains($0.key) }
        for (person, member) in unseen where !replay.erased.contains(person) {
            addMissing(.membership, person.description, member.number)
        }
        let erased = unseen.count { replay.erased.contains($0.key) }
        // Retention may have taken those who were members and erased before.
        guard replay.cut == 0, membersOfNobody != erased else { return }
        addDifference(.membership, "erased", "count", "\(membersOfNobody)", "\(erased)", nil)
    }

    private mutating func check(_ row: RelationshipRow) {
        let people = row.parties.compactMap(\.self)
        guard people.count == 2 else { return report.add(.erased) }
        guard let expected = relationships.take(people) else { return addUnknown(.relationship, row.id.description) }
        compare(.relationship, row.id.description, "status", row.status, expected.status, expected.number)
    }

    private mutating func check(_ row: ConsentRow) {
        let id: ResourceID = row.id.retyped()
        openRows.consents.remove(id)
        guard let consent = replay.consents[id] else { return addUnknown(.consent, row.id.description) }
        compare(person: row.person, consent.person, .consent, row.id.description, "user", consent.grantedBy)
        compare(
            .consent, row.id.description, "revoked", "\(row.isRevoked)", "\(consent.isRevoked)", consent.number)
        if let type = consent.type {
            compare(.consent, row.id.description, "type", row.type, type, consent.grantedBy)
        } else {
            addLostDetails(.consent, row.id.description, of: consent.person)
        }
        if row.grantedBy != 0 {
            compare(
                .consent, row.id.description, "granted_seq", "\(row.grantedBy)", "\(consent.grantedBy)",
                consent.grantedBy)
        }
    }

    // MARK: Nags and points

    private mutating func check(_ row: NagRow) {
        let (id, text): (ResourceID, String) = (row.id.retyped(), row.id.description)
        openRows.nags.remove(id)
        guard let nag = replay.nags[id] else {
            if let parent = row.parent, replay.unreadEnds.contains(parent.retyped()) {
                return addLostDetails(.nag, text, of: row.recipient)
            }
            return addUnknown(.nag, text)
        }
        compare(person: row.creator, nag.creator, .nag, text, "creator", nag.number)
        compare(person: row.recipient, nag.recipient, .nag, text, "recipient", nag.number)
        if let status = nag.status {
            compare(.nag, text, "status", row.status, status, nag.number)
        } else {
            addLostDetails(.nag, text, of: nag.recipient)
        }
        compare(.nag, text, "dismissed", "\(row.isDismissed)", "\(nag.isDismissed)", nag.number)
        if let phase = nag.phase { compare(.nag, text, "phase", "\(row.phase)", "\(phase)", nag.number) }
        if let category = nag.category { compare(.nag, text, "category", row.category, category, nag.number) }
        if let due = nag.dueAt {
            compare(.nag, text, "due_at", row.dueAt.rfc3339, due.rfc3339, nag.number)
        } else if nag.recipient.map(replay.unread.contains) ?? false {
            addLostDetails(.nag, text, of: nag.recipient)
        } else {
            report.add(.notRecorded)
        }
        if let number = nag.number { compare(.nag, text, "sync_seq", "\(row.changedBy)", "\(number)", number) }
    }

    private mutating func check(_ row: ScoreRow) {
        sums[row.user, default: ScoreSums()].add(row)
        if checkBonus(row) { return }
        guard let score = replay.scores[row.madeBy] else { return addUnknown(.points, row.id.description, row.madeBy) }
        // One entry tells of one score; one that has lost its details may have told of more.
        guard openRows.scores.remove(row.madeBy) != nil || score.gain == nil else {
            return addUnknown(.points, row.id.description, row.madeBy)
        }
        let (id, number) = (row.id.description, row.madeBy)
        compare(.points, id, "nag", row.nag?.description ?? "none", score.nag?.description ?? "none", number)
        compare(person: row.person, score.person, .points, id, "user", number)
        guard let gain = score.gain else { return addLostDetails(.points, id, of: score.person) }
        compare(.points, id, "delta_points", "\(row.points)", "\(gain.points)", number)
        compare(.points, id, "streak_delta", "\(row.streakDelta)", "\(gain.streakDelta)", number)
    }

    private mutating func check(_ row: TotalsRow) {
        var expected = sums.removeValue(forKey: row.user) ?? ScoreSums()
        expected.add(row.dropped)
        if row.dropped != ScoreSums() { dropped.claimed[row.user] = row.dropped }
        let id = row.user.description
        compare(.totals, id, "points", "\(row.sums.points)", "\(expected.points)", nil)
        compare(.totals, id, "streak", "\(row.sums.streak)", "\(expected.streak)", nil)
        compare(.totals, id, "events", "\(row.sums.events)", "\(expected.events)", nil)
        compare(.totals, id, "completions", "\(row.sums.completions)", "\(expected.completions)", nil)
    }

    private mutating func check(_ row: BadgeRow) {
        guard let person = row.person else { return report.add(.erased) }
        guard !replay.unread.contains(person) else {
            openRows.badges.remove(FamilyReplay.Badge(person: person, type: row.type))
            return addLostDetails(.badge, "\(row.user) \(row.type)", of: person)
        }
        let badge = FamilyReplay.Badge(person: person, type: row.type)
        openRows.badges.remove(badge)
        if replay.badges[badge] == nil { addUnknown(.badge, "\(row.user) \(row.type)") }
    }
}

/// The relationships of a family's members that its entries explain.
struct ExpectedRelationships: Sendable {
    struct Status: Sendable {
        var status: String
        var number: Int64
    }

    private var expected: [Set<Pseudonym>: Status] = [:]
    private var seen: Set<Set<Pseudonym>> = []

    init(_ replay: FamilyReplay, _ rows: [RelationshipRow]) {
        let pairs = Dictionary(
            rows.map { ($0.id, Set($0.parties.compactMap(\.self))) }, uniquingKeysWith: { first, _ in first })
        for change in replay.relationshipChanges {
            switch change {
            case .admitted(let person, let others, let lifts, let number):
                for other in others {
                    let pair: Set = [person, other]
                    if let known = expected[pair]?.status, known == "active" || (known == "suspended" && !lifts) {
                        continue
                    }
                    expected[pair] = Status(status: "active", number: number)
                }
            case .departed(let person, let number):
                for (pair, status) in expected where status.status == "active" && pair.contains(person) {
                    expected[pair] = Status(status: "revoked", number: number)
                }
            case .suspended(let id, let subject, let number):
                guard let pair = pairs[id], subject.map(pair.contains) ?? true else { continue }
                expected[pair] = Status(status: "suspended", number: number)
            }
        }
    }

    mutating func take(_ people: [Pseudonym]) -> Status? {
        let pair = Set(people)
        seen.insert(pair)
        return expected[pair]
    }

    /// The expected relationships for which no row came, in a fixed order.
    var unseen: [(pair: [Pseudonym], status: Status)] {
        expected.filter { !seen.contains($0.key) }
            .map { (pair: $0.key.sorted(), status: $0.value) }
            .sorted { $0.pair.lexicographicallyPrecedes($1.pair) }
    }
}
