import Contract
import Device
import Domain
import FamilyHistories
import Foundation
import LocalAI
import NagzAI
import SeededNumbers
import Testing
import TimeZones

/// The operations over a random past: by the definitions over all of it, and by a device that was sent its feed.
@Suite("Equality of the server's and the device's answers")
struct EqualityTests {
    private static let family = FamilyID(high: 0xfa, low: 7)
    /// The thread sanitizer is slow, and sees as much in a tenth.
    private static let blocks = ProcessInfo.processInfo.environment["NAGZ_FEWER_TESTS"] == nil ? 40 : 4
    private static let heuristics = Result { Heuristics(phrasebook: try Phrasebook.english()) }

    private static func members(_ dice: inout SeededNumbers) -> [FamilyHistory.Member] {
        let roles: [FamilyRole] = [.child, .guardian, .participant, .guardian, .child, .participant]
        return roles.prefix(.random(in: 2...6, using: &dice)).enumerated().map { index, role in
            FamilyHistory.Member(
                id: UserID(high: 0xaa, low: UInt64(index)), name: "Member \(index % 3)", role: role,
                status: index > 2 && Bool.random(using: &dice) ? .removed : .active)
        }
    }

    /// Compares what one member's device answers with what the server does.
    private func compare(
        _ history: FamilyHistory, _ reader: FamilyHistory.Member, _ cache: EventCache, _ zones: ZoneTable
    ) async throws -> Int {
        var position = FeedPosition.cursor(nil)
        for page in history.pages(for: reader.id, rowsPerPage: 40) {
            #expect(try cache.apply(page, of: history.family, requestedFrom: position, at: history.now))
            position = .cursor(page.cursor)
        }
        let heuristics = try Self.heuristics.get()
        let now = history.now
        var history = history
        history.reader = reader.id
        let facts = CacheFacts(cache, family: history.family, zones: zones, now: { now })
        let (device, server) = (
            HeuristicAIService(source: facts, heuristics: heuristics),
            HeuristicAIService(source: history, heuristics: heuristics)
        )
        var compared = 0
        var dice = SeededNumbers(seed: UInt64(history.nags.count))
        for nag in history.nags.shuffled(using: &dice).prefix(10) {
            do {
                let tone = try await device.selectTone(nagID: nag.id)
                #expect(tone == (try await server.selectTone(nagID: nag.id)))
                let tip = try await device.coaching(nagID: nag.id)
                #expect(tip == (try await server.coaching(nagID: nag.id)))
                let prediction = try await device.predictCompletion(nagID: nag.id)
                #expect(prediction == (try await server.predictCompletion(nagID: nag.id)))
                let pushBack = try await device.pushBack(nagID: nag.id)
                #expect(pushBack == (try await server.pushBack(nagID: nag.id)))
                compared += 4
            } catch let miss as CacheMiss {
                #expect(miss == Self.expectedMiss(nag, reader, history), "\(nag.status)")
            }
        }
        for member in history.members {
            do {
                let patterns = try await device.patterns(userID: member.id, familyID: history.family)
                #expect(patterns == (try await server.patterns(userID: member.id, familyID: history.family)))
                compared += 1
            } catch CacheMiss.historyMissing {
                #expect(reader.role != .guardian && member.id != reader.id)
            }
        }
        let digest = try await device.digest(familyID: history.family)
        #expect(digest == (try await server.digest(familyID: history.family)))
        #expect(reader.role == .guardian || digest.memberSummaries.allSatisfy { $0.userID == reader.id })
        compared += 1
        try cache.remove(history.family)
        return compared
    }

    /// What a device need not know: a nag that is not its reader's or left the feed, and another person's past.
    private static func expectedMiss(
        _ nag: FamilyHistory.Nag, _ reader: FamilyHistory.Member, _ history: FamilyHistory
    ) -> CacheMiss? {
        let isSeen = reader.role == .guardian || nag.creator == reader.id || nag.recipient == reader.id
        if !isSeen || !history.isInFeed(nag) { return .nagUnknown }
        return reader.role == .guardian || nag.recipient == reader.id ? nil : .historyMissing
    }

    @Test(
        "server and device give the same answers about 2,400 families, to a guardian and to another member",
        arguments: 0..<Self.blocks)
    func small(block: Int) async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            var compared = 0
            let zones = ZoneTable()
            for number in 0..<60 {
                let seed = UInt64(block * 1_000 + number)
                var dice = SeededNumbers(seed: seed &* 31)
                let history = FamilyHistory.random(
                    seed: seed, family: Self.family, members: Self.members(&dice), nagCount: 14)
                for reader in [history.members[1], history.members[(number % history.members.count)]] {
                    compared += try await compare(history, reader, cache, zones)
                }
            }
            #expect(compared > 1_000)
        }
    }

    @Test("server and device give the same answers about families with hundreds of events", arguments: 0..<6)
    func large(number: Int) async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            var dice = SeededNumbers(seed: UInt64(number))
            let history = FamilyHistory.random(
                seed: UInt64(9_000 + number), family: Self.family, members: Self.members(&dice), nagCount: 400)
            let compared = try await compare(history, history.members[1], cache, ZoneTable())
            #expect(compared > 1)
        }
    }

    @Test("the comparison of answers can fail: another fact gives another answer")
    func canFail() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            var dice = SeededNumbers(seed: 5)
            var history = FamilyHistory.random(
                seed: 5, family: Self.family, members: Self.members(&dice), nagCount: 60, endingAt: start)
            let reader = history.members[1]
            var position = FeedPosition.cursor(nil)
            for page in history.pages(for: reader.id, rowsPerPage: 40) {
                _ = try cache.apply(page, of: history.family, requestedFrom: position, at: history.now)
                position = .cursor(page.cursor)
            }
            let nag = try #require(history.nags.first { $0.status == .open })
            for _ in 0..<3 {
                history.addMiss(of: nag, EventID(high: dice.next(), low: 1), at: start - .hours(1))
            }
            let heuristics = try Self.heuristics.get()
            let device = HeuristicAIService(
                source: CacheFacts(cache, family: Self.family, now: { start }), heuristics: heuristics)
            let server = HeuristicAIService(source: history, heuristics: heuristics)
            let (ours, theirs) = (
                try await device.selectTone(nagID: nag.id), try await server.selectTone(nagID: nag.id)
            )
            #expect(ours != theirs)
        }
    }
}
