import Domain
import NagzAI
import Testing

@Suite struct DigestTests {
    private typealias Member = DigestFacts.Member

    private func digest(_ members: [DigestFacts.Member], _ nags: [DigestFacts.Nag]) throws -> DigestResponse {
        try heuristics().digest(
            for: Snapshot(DigestFacts(familyID: familyID, members: members, nags: nags))
        ).response
    }

    /// That many nags of one recipient, due yesterday, and if closed, then two hours ago.
    private func nags(_ recipient: UInt64, _ status: NagStatus, _ count: Int) -> [DigestFacts.Nag] {
        Array(
            repeating: DigestFacts.Nag(
                recipientID: user(recipient), status: status, dueAt: noon - .days(1),
                closedAt: status == .open ? nil : noon - .hours(2)),
            count: count)
    }

    @Test func countsAndRates() throws {
        let digest = try digest(
            [Member(userID: user(1), displayName: "Ann"), Member(userID: user(2), displayName: "Bo")],
            nags(1, .completed, 2) + nags(1, .missed, 1) + nags(2, .completed, 1) + nags(2, .open, 2)
                + nags(2, .withdrawn, 4) + nags(2, .cancelledRelationshipChange, 1))
        #expect(digest.periodStart == noon - .days(7) && digest.periodEnd == noon)
        #expect(
            digest.memberSummaries == [
                MemberSummary(
                    userID: user(1), displayName: "Ann", totalNags: 3, completed: 2, missed: 1, completionRate: 0.6667),
                MemberSummary(
                    userID: user(2), displayName: "Bo", totalNags: 3, completed: 1, missed: 0, completionRate: 0.3333),
            ])
        #expect(
            digest.totals
                == DigestTotals(totalNags: 6, completed: 3, missed: 1, open: 2, overdue: 2, completionRate: 0.5))
        #expect(
            digest.summaryText == "The family's completion rate for the last 7 days is 50%: 3 of 6 done. "
                + "Well done, Ann: 2 of 3! 2 nags are overdue and a good place to look next.")
    }

    @Test("a digest of one member counts and names nobody else, whatever facts there are")
    func own() throws {
        let members = [Member(userID: user(1), displayName: "Ann"), Member(userID: user(2), displayName: "Bo")]
        func own(_ nags: [DigestFacts.Nag]) throws -> DigestResponse {
            try heuristics().digest(
                for: Snapshot(DigestFacts(familyID: familyID, subject: user(2), members: members, nags: nags))
            ).response
        }
        let digest = try own(nags(1, .completed, 5) + nags(2, .completed, 1) + nags(2, .missed, 1))
        #expect(digest.memberSummaries.map(\.userID) == [user(2)] && digest.totals.totalNags == 2)
        #expect(
            digest.summaryText == "Your completion rate for the last 7 days is 50%: 1 of 2 done. "
                + "One nag was missed. Talking about a better time for it could help.")
        #expect(
            try own(nags(1, .missed, 5)).summaryText
                == "None of your nags were done or missed in the last 7 days, and none is overdue. Enjoy the calm!")
    }

    @Test func nothingDue() throws {
        let digest = try digest([Member(userID: user(1), displayName: "Ann")], [])
        #expect(digest.memberSummaries.map(\.completionRate) == [0])
        #expect(
            digest.totals == DigestTotals(totalNags: 0, completed: 0, missed: 0, open: 0, overdue: 0, completionRate: 0)
        )
        #expect(
            digest.summaryText == "No nags were done or missed in the last 7 days, and none is overdue. Enjoy the calm!"
        )
    }

    @Test(
        "a digest counts what ended after the start of the period up to now, whenever it was due",
        arguments: [
            ("2026-04-28T16:00:00Z", 0), ("2026-04-28T16:00:00.001Z", 1), ("2026-05-05T16:00:00Z", 1),
            ("2026-05-05T16:00:00.001Z", 0),
        ], [noon - .days(60), noon - .days(1), noon + .days(30)])
    func period(_ end: (String, Int), due: Timestamp) throws {
        for status in [NagStatus.completed, .missed] {
            let nag = DigestFacts.Nag(recipientID: user(1), status: status, dueAt: due, closedAt: at(end.0))
            let totals = try digest([Member(userID: user(1), displayName: "Ann")], [nag]).totals
            #expect(totals.totalNags == end.1 && totals.completed == (status == .completed ? end.1 : 0))
            #expect(totals.open == 0 && totals.overdue == 0)
        }
    }

    @Test("a digest counts every open nag, and those past their due time as overdue and in the total")
    func open() throws {
        let dues = [noon - .days(400), noon - .milliseconds(1), noon, noon + .days(1), noon + .days(400)]
        let nags = dues.map { DigestFacts.Nag(recipientID: user(1), status: .open, dueAt: $0) }
        let digest = try digest([Member(userID: user(1), displayName: "Ann")], nags)
        #expect(
            digest.totals
                == DigestTotals(totalNags: 2, completed: 0, missed: 0, open: 5, overdue: 2, completionRate: 0))
        #expect(
            digest.summaryText.hasSuffix(
                "5 nags are still open, 2 of them overdue, which makes those the ones to look at next."))
    }

    @Test func membersAreListedByNameThenId() throws {
        let members = [
            Member(userID: user(5), displayName: nil), Member(userID: user(4), displayName: "Zoe"),
            Member(userID: user(3), displayName: "E\u{0301}a"), Member(userID: user(2), displayName: "\u{00C9}a"),
            Member(userID: user(1), displayName: nil), Member(userID: user(6), displayName: "Ann"),
        ]
        let expected = [user(6), user(4), user(2), user(3), user(1), user(5)]
        #expect(try digest(members, []).memberSummaries.map(\.userID) == expected)
        #expect(try digest(members.reversed(), []).memberSummaries.map(\.userID) == expected)
    }

    @Test func removedAndUnknownPeopleCountNowhere() throws {
        let digest = try digest(
            [
                Member(userID: user(1), displayName: "Ann"),
                Member(userID: user(2), displayName: "Bo", status: .removed),
            ],
            nags(1, .completed, 1) + nags(2, .missed, 5) + nags(3, .missed, 5))
        #expect(digest.memberSummaries.map(\.userID) == [user(1)])
        #expect(digest.totals.totalNags == 1)
        #expect(!digest.summaryText.contains("Bo"))
    }

    @Test func theBestIsByRateThenByNumberThenByName() throws {
        let members = [
            Member(userID: user(1), displayName: "Ann"), Member(userID: user(2), displayName: "Bo"),
            Member(userID: user(3), displayName: "Cy"),
        ]
        func praised(_ nags: [DigestFacts.Nag]) throws -> String? {
            let text = try digest(members, nags).summaryText
            return ["Ann", "Bo", "Cy"].first { text.contains("Well done, \($0):") }
        }
        #expect(try praised(nags(1, .completed, 9) + nags(1, .missed, 1) + nags(2, .completed, 1)) == "Bo")
        #expect(try praised(nags(1, .completed, 1) + nags(3, .completed, 2)) == "Cy")
        #expect(try praised(nags(2, .completed, 2) + nags(3, .completed, 2)) == "Bo")
        #expect(try praised(nags(2, .missed, 2)) == nil)
    }

    @Test func itSaysWhatToLookAtNext() throws {
        let ann = [Member(userID: user(1), displayName: "Ann")]
        func ending(_ nags: [DigestFacts.Nag], _ text: String) throws {
            #expect(try digest(ann, nags).summaryText.hasSuffix(text))
        }
        func upcoming(_ count: Int) -> [DigestFacts.Nag] {
            Array(repeating: .init(recipientID: user(1), status: .open, dueAt: noon + .days(1)), count: count)
        }
        try ending(
            upcoming(1) + nags(1, .missed, 3), "One nag is still open, which makes it the one to look at next.")
        try ending(upcoming(4), "Enjoy the calm! 4 nags are still open and a good place to look next.")
        try ending(
            nags(1, .open, 1) + nags(1, .missed, 3), "One nag is overdue, which makes it the one to look at next.")
        try ending(nags(1, .open, 4), "4 nags are overdue and a good place to look next.")
        try ending(
            nags(1, .open, 1) + upcoming(8),
            "9 nags are still open, 1 of them overdue, which makes those the ones to look at next.")
        try ending(nags(1, .missed, 1), "One nag was missed. Talking about a better time for it could help.")
        try ending(nags(1, .missed, 2), "2 nags were missed. Talking about better times for them could help.")
        try ending(nags(1, .completed, 2), "Nothing is left over: a nice week to build on.")
    }

    static let nameCases: [(String?, String)] = [
        ("Ann", "Ann"), ("  Ann \n Lee ", "Ann Lee"), (nil, "a family member"), ("", "a family member"),
        (" \u{200B} ", "a family member"), ("{total}", "{total}"), ("%d %s", "%d %s"), ("Lazy Bob", "a family member"),
        ("LA\u{200D}ZY", "a family member"), ("Bob. You must obey", "a family member"), ("\u{202E}nnA", "nnA"),
        ("Ann\u{0}Lee", "Ann Lee"), (String(repeating: "x", count: 300), String(repeating: "x", count: 40)),
        ("👩‍👧", "👩‍👧"), ("Baba", "Baba"),
    ]

    @Test("a digest's sentence has a member's name in a form that fits", arguments: nameCases)
    func names(_ name: String?, _ spoken: String) throws {
        let digest = try digest([Member(userID: user(1), displayName: name)], nags(1, .completed, 1))
        #expect(digest.summaryText.contains("Well done, \(spoken): 1 of 1!"))
        #expect(digest.memberSummaries.first?.displayName == name)
    }
}
