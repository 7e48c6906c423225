import Domain
import Reactor
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Realtime: frames of many events")
struct FrameQueueTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static let people = (UserID(high: 1, low: 1), UserID(high: 1, low: 2))

    private static func event(_ kind: EventKind, _ seq: Int64, nag: UInt64 = 1, by actor: UserID? = people.0)
        -> FamilyEvent
    {
        FamilyEvent(
            kind: kind, seq: seq, at: Timestamp(seconds: seq), actor: actor, audience: .everybody,
            nag: NagID(high: 0, low: nag), member: nil)
    }

    @Test("the first two events are sent at once, and later ones every 200 ms")
    func pace() {
        var queue = FrameQueue()
        for (seq, kind) in [EventKind.nagCreated, .nagUpdated, .nagWithdrawn, .memberAdded].enumerated() {
            #expect(queue.mergeOrAppend(Self.event(kind, Int64(seq))) == false)
        }
        #expect(queue.takeNext(at: Self.start)?.kind == .nagCreated)
        #expect(queue.takeNext(at: Self.start)?.kind == .nagUpdated)
        #expect(queue.takeNext(at: Self.start) == nil)
        let time = Self.start + .milliseconds(200)
        #expect(queue.nextFrameTime == time)
        #expect(
            queue.takeNext(at: Self.start + .milliseconds(199)) == nil
                && queue.takeNext(at: time)?.kind == .nagWithdrawn)
        #expect(queue.takeNext(at: time) == nil && queue.takeNext(at: time + .milliseconds(200))?.kind == .memberAdded)
        #expect(queue.nextFrameTime == nil && queue.isEmpty)
    }

    @Test("events of one kind become one frame, which names only what they have in common")
    func coalescing() {
        var queue = FrameQueue()
        #expect(queue.mergeOrAppend(Self.event(.nagUpdated, 1)) == false)
        #expect(queue.mergeOrAppend(Self.event(.nagUpdated, 2)) == true)
        var frame = queue.takeNext(at: Self.start)
        #expect(frame?.count == 2 && frame?.actor == Self.people.0 && frame?.nag == NagID(high: 0, low: 1))
        #expect(frame?.at == Timestamp(seconds: 2))
        _ = queue.mergeOrAppend(Self.event(.nagUpdated, 3))
        _ = queue.mergeOrAppend(Self.event(.nagUpdated, 4, nag: 2, by: Self.people.1))
        // What differs once stays out, whatever comes later.
        _ = queue.mergeOrAppend(Self.event(.nagUpdated, 5, nag: 2, by: Self.people.1))
        frame = queue.takeNext(at: Self.start)
        #expect(frame?.count == 3 && frame?.actor == nil && frame?.nag == nil)
    }

    @Test("at most ten frames are sent in any second, whatever happens")
    func bound() {
        var queue = FrameQueue()
        var (sent, now): ([MonotonicTime], MonotonicTime) = ([], Self.start)
        for seq in 0..<5_000 {
            _ = queue.mergeOrAppend(Self.event(EventKind.allCases[seq % EventKind.allCases.count], Int64(seq)))
            while queue.takeNext(at: now) != nil { sent.append(now) }
            now = now + .milliseconds(1)
        }
        for (index, time) in sent.enumerated() {
            let inSecond = sent[index...].prefix { $0 < time + .seconds(1) }.count
            #expect(inSecond <= 10)
        }
        #expect(sent.count >= 20)
    }

    @Test("a socket that opens late gets the events it missed, and no socket gets one twice")
    func lateSocket() {
        var directory = SocketDirectory()
        let family = FamilyID(high: 7, low: 7)
        func record(_ id: UInt64, seq: Int64, _ role: FamilyRole = .guardian) -> SocketRecord {
            SocketRecord(
                id: id, loop: 0, family: family, user: UserID(high: 0, low: id), session: nil, role: role,
                notifiedSeq: seq, handshakeBeganAt: .epoch)
        }
        func told(_ deliveries: [(socket: SocketRecord, events: [FamilyEvent])]) -> [UInt64: [Int64]] {
            Dictionary(uniqueKeysWithValues: deliveries.map { ($0.socket.id, $0.events.map(\.seq)) })
        }
        let events = (11...15).map { Self.event(.nagCreated, $0) }
        #expect(directory.insertReportingArrival(record(1, seq: 10)) == true)
        directory.markChanged(family)
        #expect(directory.takeUnread(10).map(\.seq) == [10] && !directory.hasUnread)
        // One comes while the family is read, from a moment before and from one within.
        _ = directory.insertReportingArrival(record(2, seq: 8))
        _ = directory.insertReportingArrival(record(3, seq: 12))
        #expect(
            told(directory.advance(family, from: 10, to: 15, events)) == [1: [11, 12, 13, 14, 15], 3: [13, 14, 15]])
        #expect(directory.takeUnread(10).map(\.seq) == [8])
        let all = (9...16).map { Self.event(.nagCreated, $0) }
        #expect(
            told(directory.advance(family, from: 8, to: 16, all)) == [1: [16], 2: Array(9...16), 3: [16]])
        #expect(directory.removeReportingDeparture(1, of: family) == UserID(high: 0, low: 1))
        #expect(directory.removeReportingDeparture(1, of: family) == nil)
    }
}
