import Contract
import Domain
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Reading points")
struct GamificationReadingTests {
    @Test("the leaderboard has the current local week of those who take part")
    func leaderboard() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for person in [family.child, family.participant, family.secondGuardian] {
                try await server.enableGamification(person)
            }
            // Sunday 23:30 in New York, the last half hour of the week.
            server.clock.set(to: ManualClock.start + .days(5) + .minutes(12 * 60 + 30))
            let old = try await server.nag(from: family.guardian, to: family.participant)
            _ = try await server.complete(old.id, as: family.participant)
            server.clock.advance(by: .hours(1))
            let new = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(new.id, as: family.child)
            let board = try await server.call(
                API.getLeaderboard, FamilyQuery(familyID: family.id), as: family.participant)
            #expect(board.periodStart == server.clock.now() - .minutes(30))
            let zeros = [family.participant.id, family.secondGuardian.id].sorted()
            #expect(board.entries.map(\.userID) == [family.child.id] + zeros)
            #expect(board.entries.map(\.totalPoints) == [10, 0, 0])
            try await server.enableGamification(family.child, false)
            let without = try await server.call(
                API.getLeaderboard, FamilyQuery(familyID: family.id), as: family.participant)
            #expect(without.entries.map(\.userID) == zeros)
        }
    }

    @Test("points are readable by the person and the guardians, and by no other family")
    func readers() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let child = family.child.id
            let (events, badges) = (
                GamificationEventsQuery(userID: child, familyID: family.id),
                UserInFamilyQuery(userID: child, familyID: family.id)
            )
            for person in [family.child, family.secondGuardian] {
                try await server.expectOnly {
                    _ = try await server.call(API.listGamificationEvents, events, as: person)
                    _ = try await server.call(API.listBadges, badges, as: person)
                }
            }
            // The second refusal of the hour is counted.
            try await server.expectOnly(audit: ["gamification.read.denied"]) {
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(API.listGamificationEvents, events, as: family.participant)
                }
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(API.listBadges, badges, as: family.participant)
                }
            }
            try await server.expectOnly {
                for person in [family.stranger, family.removed] {
                    try await server.expect(.refusal(.authorizationDenied)) {
                        try await server.call(API.listGamificationEvents, events, as: person)
                    }
                    try await server.expect(.refusal(.authorizationDenied)) {
                        try await server.call(API.getLeaderboard, FamilyQuery(familyID: family.id), as: person)
                    }
                }
                try await server.expect(.refusal(.notFound)) {
                    try await server.call(
                        API.listGamificationEvents, GamificationEventsQuery(userID: family.stranger.id),
                        as: family.guardian)
                }
            }
        }
    }

    @Test("summary and leaderboard are 403 unless the person has points switched on")
    func switchedOff() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let query = FamilyQuery(familyID: family.id)
            func expectOff() async throws {
                try await server.expectOnly {
                    for refusal in [
                        try await expectRefusal(403) {
                            try await server.call(API.getGamificationSummary, query, as: family.child)
                        },
                        try await expectRefusal(403) {
                            try await server.call(API.getLeaderboard, query, as: family.child)
                        },
                    ] {
                        #expect(refusal.code == .authorizationDenied && refusal.reason == ErrorReason.switchedOff)
                    }
                }
            }
            try await expectOff()
            try await server.enableGamification(family.child)
            let summary = try await server.call(API.getGamificationSummary, query, as: family.child)
            #expect(summary.totalPoints == 0)
            _ = try await server.call(API.getLeaderboard, query, as: family.child)
            try await server.enableGamification(family.child, false)
            try await expectOff()
        }
    }

    @Test("without the consent every reading of points is 403")
    func consent() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [.aiMediation])
            let (query, user) = (FamilyQuery(familyID: family.id), family.guardian.id)
            try await server.expectOnly {
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(API.getGamificationSummary, query, as: family.guardian)
                }
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(API.getLeaderboard, query, as: family.guardian)
                }
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(
                        API.listGamificationEvents, GamificationEventsQuery(userID: user), as: family.guardian)
                }
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(
                        API.listBadges, UserInFamilyQuery(userID: user, familyID: family.id), as: family.guardian)
                }
            }
        }
    }
}

/// Who may do what in the group `gamification`.
extension MatrixRow {
    static let gamification: [MatrixRow] = [
        MatrixRow(API.getGamificationSummary, allowed: .members) { (inFamily($0), NoBody()) },
        MatrixRow(API.getLeaderboard, allowed: .members) { (inFamily($0), NoBody()) },
        MatrixRow(API.listGamificationEvents, allowed: .guardians.union([.child])) {
            (GamificationEventsQuery(userID: $0.family.child.id, familyID: $0.family.id), NoBody())
        },
        MatrixRow(API.listBadges, allowed: .guardians.union([.child])) { (childQuery($0), NoBody()) },
    ]
}
