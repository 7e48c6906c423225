import Audit
import Contract
import Domain
import JSON
import Postgres
import Reactor
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Realtime: events")
struct RealtimeEventTests {
    private static func kinds(_ events: [JSONValue]) -> [String?] { events.map { $0["event"]?.stringValue } }

    @Test("a write on one instance is sent to sockets of another, with exact fields")
    func otherInstance() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.withPeers(1) { peers in
                let guardian = try await peers[0].socket(family.secondGuardian)
                let child = try await server.socket(family.child)
                #expect(guardian.status == 101 && child.status == 101)
                let nag = try await server.nag(from: family.guardian, to: family.child)
                for socket in [guardian, child] {
                    let event = try await socket.event()
                    #expect(event["event"]?.stringValue == "nag_created")
                    #expect(event["family_id"]?.stringValue == family.id.description)
                    #expect(event["actor_id"]?.stringValue == family.guardian.id.description)
                    #expect(event["data"]?.objectValue?.members.map(\.key) == ["nag_id"])
                    #expect(event["data"]?["nag_id"]?.stringValue == nag.id.description)
                    #expect(event["ts"]?.stringValue.flatMap { Timestamp(rfc3339: $0) } != nil)
                    #expect(event.objectValue?.members.count == 5)
                }
            }
        }
    }

    @Test("a family that changes while a notification is sent is in the next one", .timeLimit(.minutes(5)))
    func changedDuringNotification() async throws {
        try await TestServer.run { server in
            let (one, other) = (try await server.family(), try await server.family())
            let (messages, heard) = AsyncStream.makeStream(of: String.self)
            let loop = try EventLoop(name: "test-listener")
            try loop.start()
            let url = server.database.url
            let listener = try await loop.runTask { poller in
                let listener = NotificationListener(
                    try ConnectionOptions(url: url), listen: RealtimeStatements.listen, poller: poller,
                    onListening: { heard.yield("listening") }, onNotification: { heard.yield($0) })
                listener.start()
                return LoopBound(value: listener)
            }
            var received = messages.makeAsyncIterator()
            #expect(await received.next() == "listening")
            try await server.database.run { database in
                try await database.transaction { transaction in
                    // A notification reads that table before it is sent.
                    _ = try await transaction.query("LOCK TABLE connections IN ACCESS EXCLUSIVE MODE")
                    _ = try await server.nag(from: one.guardian, to: one.child)
                    try await transaction.waitUntilBlocking("no notification came to be sent")
                    _ = try await server.nag(from: other.guardian, to: other.child)
                }
            }
            while let payload = await received.next(), !payload.contains(other.id.description) {}
            try await loop.runTask { _ in listener.value.stop() }
            loop.stop()
        }
    }

    @Test("a socket answers `ping` with a pong, and ignores everything else")
    func ping() async throws {
        try await TestServer.run { server in
            let socket = try await server.socket(try await server.family().child)
            for text in ["", "pong", #"{"event":"ping"}"#, "PING", "ping "] { try socket.send(text: text) }
            #expect(try await socket.eventsBeforePong().isEmpty)
        }
    }

    @Test("a family's events are sent in its order")
    func order() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let socket = try await server.socket(family.guardian)
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.call(
                API.submitExcuse, NagPath(nagID: nag.id), ExcuseCreate(text: "I forgot"), as: family.child)
            try await server.call(API.dismissNag, NagPath(nagID: nag.id), as: family.child)
            _ = try await server.complete(nag.id, as: family.child)
            var events: [JSONValue] = []
            while events.last?["event"]?.stringValue != "gamification_event" { events.append(try await socket.event()) }
            #expect(
                Self.kinds(events) == [
                    "nag_created", "excuse_submitted", "nag_updated", "nag_status_changed", "gamification_event",
                ])
            #expect(events.dropLast().allSatisfy { $0["data"]?["nag_id"]?.stringValue == nag.id.description })
            let times = events.compactMap { $0["ts"]?.stringValue }
            #expect(times == times.sorted() && times.count == 5)
        }
    }

    @Test("somebody who may not read a nag gets no event of it, whatever happens to it")
    func visibility() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let participant = try await server.socket(family.participant)
            let stranger = try await server.socket(family.stranger)
            let hidden = try await server.nag(from: family.guardian, to: family.child)
            try await server.call(
                API.submitExcuse, NagPath(nagID: hidden.id), ExcuseCreate(text: "I forgot"), as: family.child)
            _ = try await server.complete(hidden.id, as: family.child)
            let shown = try await server.nag(from: family.guardian, to: family.participant)
            // The first thing the participant hears is their own nag, which is the last that happened.
            let event = try await participant.event()
            #expect(event["event"]?.stringValue == "nag_created")
            #expect(event["data"]?["nag_id"]?.stringValue == shown.id.description)
            #expect(try await participant.eventsBeforePong().isEmpty)
            #expect(try await stranger.eventsBeforePong().isEmpty)
        }
    }

    @Test("an event of a member's removal is sent to every member", arguments: [false, true])
    func members(deletesAccount: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let child = try await server.socket(family.child)
            if deletesAccount {
                _ = try await server.call(
                    API.deleteAccount, AccountPath(userID: family.participant.id), as: family.participant)
            } else {
                try await server.call(
                    API.removeMember, MemberPath(familyID: family.id, userID: family.participant.id),
                    as: family.guardian)
            }
            let event = try await child.event()
            #expect(event["event"]?.stringValue == "member_removed")
            #expect(event["data"]?["user_id"]?.stringValue == family.participant.id.description)
        }
    }

    @Test("a burst of writes is sent in a few frames")
    func burst() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nags = [
                try await server.nag(from: family.guardian, to: family.child),
                try await server.nag(from: family.guardian, to: family.participant),
            ]
            let socket = try await server.socket(family.secondGuardian)
            let clock = ContinuousClock()
            let start = clock.now
            let recipients = [family.child, family.participant]
            _ = try await together(2) { number in
                for _ in 0..<60 {
                    try await server.call(API.dismissNag, NagPath(nagID: nags[number].id), as: recipients[number])
                    try await server.call(API.undismissNag, NagPath(nagID: nags[number].id), as: recipients[number])
                }
            }
            // One more, of another kind, so that the end is known.
            try await server.call(API.withdrawNag, NagPath(nagID: nags[0].id), as: family.guardian)
            var frames = 0
            while try await socket.event()["event"]?.stringValue != "nag_withdrawn" { frames += 1 }
            let elapsed = start.duration(to: clock.now)
            #expect(frames >= 1 && Double(frames) <= 3 + elapsed / FrameQueue.frameInterval, "\(frames) in \(elapsed)")
        }
    }

    @Test("events from while the listening session was dead are sent soon after")
    func listenerKilled() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let socket = try await server.socket(family.child)
            for _ in 0..<3 {
                try await server.sql(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE query LIKE 'LISTEN%' AND datname = current_database() AND pid <> pg_backend_pid()
                    """)
                let nag = try await server.nag(from: family.guardian, to: family.child)
                #expect(try await socket.event()["data"]?["nag_id"]?.stringValue == nag.id.description)
            }
        }
    }

    @Test("another process's write, which notifies nobody, is found by the sweep")
    func swept() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let socket = try await server.socket(family.child)
            let nag: NagID = server.random.identifier(at: server.clock.now())
            let row = FeedRows.nag(nag, from: family.guardian, to: family.child, at: server.clock.now())
            let (random, context) = (server.random, server.context)
            let pseudonym = family.child.pseudonym
            try await server.database.run { database in
                let act = Act(
                    kind: .nagCreated, basis: .nothing, actor: SystemActor.mediator, subject: pseudonym,
                    resource: nag.retyped(), statements: [row])
                let _: StatusAnswer = try await Ledger(database: database, random: random)
                    .write(context, in: family.id) { _ in .perform(act, StatusAnswer(status: "ok")) }
            }
            let event = try await socket.event()
            #expect(event["data"]?["nag_id"]?.stringValue == nag.description && event["actor_id"] == .null)
        }
    }
}
