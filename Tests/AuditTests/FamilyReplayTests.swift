import Audit
import Domain
import Testing

@Suite("A family's state, replayed from its entries")
struct FamilyReplayTests {
    private static let family = FamilyID(high: 1, low: 1)
    private static let parent = Pseudonym(high: 2, low: 1)
    private static let child = Pseudonym(high: 2, low: 2)

    /// The entries of a family one after another; hashes play no part.
    private static func replay(
        _ acts: [(kind: String, subject: Pseudonym?, resource: ResourceID?, details: AuditBody?)]
    ) -> FamilyReplay {
        var replay = FamilyReplay(family: family)
        for (index, act) in acts.enumerated() {
            let entry = AuditEntry(
                family: family, number: Int64(index + 1), at: Timestamp(seconds: Int64(index)),
                act: AuditEntry.Act(
                    kind: act.kind, actor: parent, subject: act.subject, resource: act.resource,
                    trace: TraceID(high: 0, low: 0), request: RequestID(high: 0, low: 0), commitment: []),
                previous: [], hash: [])
            replay.apply(entry, act.details)
        }
        return replay
    }

    private static func member(_ user: UInt64, _ person: Pseudonym?, _ role: String, isActive: Bool = true) -> StateRow
    {
        let user = UserID(high: 3, low: user)
        return StateRow(
            .membership, id: user.description, keys: person.map { [.person($0)] } ?? [],
            [
                "role": .text(role), "status": isActive ? "active" : "removed",
                StateFinding.pseudonymField: StateValue(user),
            ], user: user, person: person)
    }

    private static let founded: [(kind: String, subject: Pseudonym?, resource: ResourceID?, details: AuditBody?)] = [
        (
            "family.created", parent, nil,
            ["policy": "\(PolicyID(high: 4, low: 1))", "user": "\(UserID(high: 3, low: 1))"]
        ),
        ("member.created", child, nil, ["role": "child", "user": "\(UserID(high: 3, low: 2))"]),
    ]

    private static func report(
        _ replay: FamilyReplay, _ rows: [StateRow], relationships: [StateRow] = []
    ) -> StateReport {
        var state = FamilyReconciliation(replay, relationships: [:])
        for row in rows + relationships { state.check(row) }
        return state.finish()
    }

    private static let relationship = StateRow(
        .relationship, id: "5", keys: [.pair(of: parent, and: child)], ["status": "active"])
    private static let policy: StateRow = {
        var values: [String: StateValue] = [
            "id": StateValue(PolicyID(high: 4, low: 1)), "in_force": "true", "owners": .people([parent]),
            "version": "1", "awaits_co_owner": "false", "proposal": .text(nil), "proposed_terms": .text(nil),
        ]
        for (name, value) in PolicyNote.values(of: .standard, others: "") { values[name] = .text(value) }
        return StateRow(.policy, id: "4", keys: [.policy], values)
    }()

    @Test("rows that match the entries are explained")
    func explained() {
        let report = Self.report(
            Self.replay(Self.founded),
            [Self.member(1, Self.parent, "guardian"), Self.member(2, Self.child, "child"), Self.policy],
            relationships: [Self.relationship])
        #expect(report.findings == [] && report.verdict == "explained" && report.comparedCount == 4)
    }

    @Test("a changed role, a missing row, a swapped pseudonym and a surplus row are named")
    func named() {
        let replay = Self.replay(Self.founded)
        let raised = Self.report(
            replay, [Self.member(1, Self.parent, "guardian"), Self.member(2, Self.child, "guardian"), Self.policy],
            relationships: [Self.relationship])
        #expect(raised.findings.map(\.field) == ["role"] && raised.findings.first?.number == 2)
        let missing = Self.report(
            replay, [Self.member(1, Self.parent, "guardian"), Self.policy], relationships: [Self.relationship])
        #expect(missing.findings.map(\.problem) == [.noRow])
        let swapped = Self.report(
            replay, [Self.member(2, Self.parent, "guardian"), Self.member(1, Self.child, "child"), Self.policy],
            relationships: [Self.relationship])
        #expect(swapped.findings.map(\.field) == ["pseudonym", "pseudonym"])
        let added = Self.report(
            replay,
            [
                Self.member(1, Self.parent, "guardian"), Self.member(2, Self.child, "child"), Self.policy,
                Self.member(3, Pseudonym(high: 2, low: 3), "guardian"),
            ], relationships: [Self.relationship])
        #expect(added.findings.map(\.problem) == [.noEntry])
    }

    @Test("what was erased or pruned by retention is a gap and no finding")
    func gaps() {
        let erased = Self.replay([
            Self.founded[0], ("member.created", Self.child, nil, nil), ("member.removed", Self.child, nil, nil),
            ("person.erased", Self.child, nil, [:]),
        ])
        var revoked = Self.relationship
        (revoked.keys, revoked.values["status"]) = ([], "revoked")
        let report = Self.report(
            erased,
            [Self.member(1, Self.parent, "guardian"), Self.member(2, nil, "child", isActive: false), Self.policy],
            relationships: [revoked])
        #expect(report.findings == [] && report.gaps == [.erased: 2])
        let pruned = Self.report(
            FamilyReplay(family: Self.family, lastPrunedNumber: 7),
            [Self.member(1, Self.parent, "guardian"), Self.policy])
        #expect(pruned.findings == [] && pruned.gaps == [.pruned: 2])
    }

    @Test("a kind that this version does not know makes the verdict incomplete, and is named")
    func unknown() {
        let report = Self.report(
            Self.replay(Self.founded + [("family.merged", nil, nil, [:])]),
            [Self.member(1, Self.parent, "guardian"), Self.member(2, Self.child, "child"), Self.policy],
            relationships: [Self.relationship])
        #expect(report.verdict == "incomplete" && report.incompleteReason?.contains("family.merged") == true)
    }

    @Test("a version of an incentive rule whose entry has lost its details is missed if its row is deleted")
    func lostVersions() {
        let rule = ResourceID(high: 6, low: 1)
        let first = IncentiveRuleVersion(
            version: 1,
            terms: IncentiveTerms(
                trigger: .streakReached, count: 5, reward: .bonusPoints, amount: 10, approvalMode: .auto),
            status: .active)
        let replay = Self.replay(
            Self.founded + [
                ("incentive_rule.created", nil, rule, first.details), ("incentive_rule.changed", Self.child, rule, nil),
                ("person.erased", Self.child, nil, [:]),
            ])
        func version(_ number: Int, _ status: String) -> StateRow {
            StateRow(
                .incentiveRule, id: "\(rule) \(number)", keys: [.version(of: rule, number)],
                ["status": .text(status), "terms": "streak_reached 5 bonus_points 10 auto"])
        }
        let rows = [Self.member(1, Self.parent, "guardian"), Self.member(2, nil, "child"), Self.policy]
        let whole = Self.report(replay, rows + [version(1, "superseded"), version(2, "active")])
        #expect(whole.findings == [] && whole.gaps[.erased] == 2)
        let missing = Self.report(replay, rows + [version(1, "superseded")])
        #expect(missing.findings.map(\.problem) == [.noRow] && missing.findings.first?.id == "\(rule) 2")
        let second = Self.report(replay, rows + [version(1, "superseded"), version(2, "active"), version(2, "active")])
        #expect(second.findings.map(\.problem) == [.noEntry])
    }
}
