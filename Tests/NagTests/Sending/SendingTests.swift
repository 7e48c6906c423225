import Contract
import Domain
import HTTPClient
import JSON
import OpenAPICheck
import SQL
import Synchronization
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

/// Against a web server that is not ours, which checks each message's signature by itself.
@Suite("Sending deliveries")
struct SendingTests {
    struct Killed: Error {}

    @Test("two workers at once send each delivery once, signed, with its id")
    func together() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                try await server.deliveries(300, to: family.child)
                let options = try provider.options("slow20")
                try await server.withWorker(options) { one in
                    try await server.withWorker(options) { other in
                        async let first: Void = one.run()
                        async let second: Void = other.run()
                        _ = try await (first, second)
                        #expect(one.counts()[0] + other.counts()[0] == 300)
                    }
                }
                let received = try await provider.received()
                #expect(received.count == 300 && Set(received.map { $0["id"]?.stringValue }).count == 300)
                let rows = try await server.deliveryRows()
                #expect(rows.allSatisfy { $0.status == "sent" && $0.attempts == 1 && $0.nextAttempt == nil })
            }
        }
    }

    @Test("a message has its exact fields, and the log provider omits its words")
    func message() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run(isOfActs: false) { server in
                let family = try await server.family()
                let nag = try await server.nag(from: family.guardian, to: family.child)
                let id = try await server.delivery(of: nag.id, to: family.child, "nag_escalated", phase: .dueSoon)
                try await server.withWorker(provider.options()) { try await $0.run() }
                let received = try #require(try await provider.received().first)
                #expect(
                    received["body"] == [
                        "delivery_id": .string(id.description), "channel": "push", "event": "nag_escalated",
                        "phase": "phase_1_due_soon", "nag_id": .string(nag.id.description),
                        "family_id": .string(family.id.description),
                        "target_user_id": .string(family.child.id.description), "title": "Due soon", "text": "Please",
                        "created_at": .string(server.clock.now().rfc3339), "attempt": 1,
                    ])
                server.clock.advance(by: .seconds(1))
                try await server.delivery(of: nag.id, to: family.child, "nag_escalated", phase: .dueSoon)
                let recorder = LogRecorder()
                let log = Log(.info, clock: server.clock, descriptor: recorder.descriptor)
                try await server.withWorker(DeliveryOptions(), log: log) { try await $0.run() }
                log.stop()
                let lines = recorder.close()
                #expect(lines.contains { $0.contains(nag.id.description) } && !lines.contains { $0.contains("Please") })
                #expect(try await server.deliveryRows().map(\.reference) == [nil, "log"])
            }
        }
    }

    @Test("a worker that dies before a message loses nothing, and one that dies after it repeats it with the same id")
    func killed() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                try await server.deliveries(1, to: family.child)
                for (point, messages) in [(ChannelSender.Point.claimed, 0), (.acknowledged, 1)] {
                    try await server.withWorker(
                        provider.options(),
                        reach: { reached in
                            if case .claimed = point { throw Killed() }
                            if case .acknowledged = reached { throw Killed() }
                        }
                    ) { worker in
                        try await worker.run()
                        #expect(worker.figures[0].faults.value == 1 && worker.counts() == [0, 0, 0, 0, 0])
                    }
                    #expect(try await provider.received().count == messages)
                    // Until the lease ends nobody else takes it.
                    try await server.withWorker(provider.options()) { worker in
                        let claimed = try await worker.runRound()
                        #expect(claimed == 0)
                    }
                    server.clock.advance(by: ChannelSender.lease)
                }
                try await server.withWorker(provider.options()) { try await $0.run() }
                let received = try await provider.received()
                #expect(received.count == 2 && Set(received.map { $0["id"]?.stringValue }).count == 1)
                let row = try #require(try await server.deliveryRows().first)
                #expect(row.status == "sent" && row.attempts == 3)
            }
        }
    }

    @Test("a worker whose lease has ended records no failure over another's success")
    func fencing() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                try await server.deliveries(1, to: family.child)
                try await server.withWorker(provider.options("fail503-held")) { late in
                    try await late.runRound()
                    server.clock.advance(by: ChannelSender.lease)
                    try await server.withWorker(provider.options()) { try await $0.run() }
                    _ = try await provider.content(of: "/release")
                    try await late.drain()
                }
                let row = try #require(try await server.deliveryRows().first)
                #expect(row.status == "sent" && row.attempts == 2)
            }
        }
    }

    @Test("retries wait longer each time, within the limits, and then the delivery is dead")
    func retries() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                try await server.deliveries(1, to: family.child)
                var options = try provider.options("fail503")
                options.retries.maxAttempts = 4
                try await server.withWorker(options) { worker in
                    for attempt in 1...3 {
                        try await worker.run()
                        let row = try #require(try await server.deliveryRows().first)
                        #expect(row.status == "pending" && row.attempts == attempt && row.failure == "status 503")
                        let next = try #require(row.nextAttempt)
                        let whole = Timestamp.Span.seconds(Int64(15 << (attempt - 1))).microseconds
                        #expect((whole / 2...whole).contains((next - server.clock.now()).microseconds))
                        server.clock.set(to: next)
                    }
                    try await worker.run()
                    #expect(worker.counts() == [0, 3, 1, 0, 0])
                }
                let row = try #require(try await server.deliveryRows().first)
                #expect(row.status == "failed" && row.attempts == 4 && !row.dropped && row.failure == "status 503")
                #expect(try await provider.received().count == 4)
                // What the receiver refuses for good is not tried again.
                try await server.deliveries(1, to: family.child)
                try await server.withWorker(provider.options("fail422")) { worker in
                    try await worker.run()
                    #expect(worker.counts() == [0, 0, 1, 0, 0])
                }
            }
        }
    }

    @Test("the back-off doubles up to its limit, and the provider may ask for more within it")
    func backOff() {
        struct Fixed: Randomness {
            let byte: UInt8
            func bytes(_ count: Int) -> [UInt8] { Array(repeating: byte, count: count) }
        }
        let policy = RetryPolicy()
        func delays(_ byte: UInt8, requested: Timestamp.Span? = nil) -> [Int64?] {
            (1...9).map { attempt in
                policy.delay(after: attempt, requested: requested, random: Fixed(byte: byte)).map {
                    $0.microseconds / 1_000_000
                }
            }
        }
        #expect(delays(255) == [15, 30, 60, 120, 240, 480, 960, nil, nil])
        #expect(delays(0) == [7, 15, 30, 60, 120, 240, 480, nil, nil])
        #expect(delays(0, requested: .seconds(100)).prefix(6) == [100, 100, 100, 100, 120, 240])
        #expect(delays(0, requested: .days(9)).first == 3_600)
    }

    @Test("a provider that does not answer delays no other")
    func fairness() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family(consents: [])
                try await server.grantSMS(to: family.participant)
                try await server.deliveries(100, to: family.participant)
                try await server.deliveries(200, to: family.participant, by: .sms)
                var options = try provider.options("slow600000")
                options.sms = try provider.webhook()
                try await server.withWorker(options) { worker in
                    try await worker.serve { worker.counts(.sms)[0] == 200 }
                    #expect(worker.counts() == [0, 0, 0, 0, 0])
                }
            }
        }
    }

    @Test(
        "a gateway gets the number that a person has confirmed only with --push-tokens; without a number it gets the message too"
    )
    func phones() async throws {
        let schema = try #require(TestServer.document.webhookSchema("notification"))
        try await TestHTTPServer.with { provider in
            try await TestServer.run(isOfActs: false) { server in
                let family = try await server.family(consents: [])
                try await server.sql("UPDATE users SET phone = '+4930123456' WHERE id = \(family.participant.id)")
                var options = try provider.options()
                options.sms = try provider.webhook()
                for person in [family.participant, family.guardian] { try await server.grantSMS(to: person) }
                for passesTokens in [false, true] {
                    options.sendsTokensAndPhones = passesTokens
                    for person in [family.participant, family.guardian] {
                        try await server.deliveries(1, to: person, by: .sms)
                    }
                    try await server.deliveries(1, to: family.participant)
                    try await server.withWorker(options) { try await $0.run() }
                }
                let messages = try await provider.received().compactMap { $0["body"] }
                #expect(messages.count == 6)
                let named = messages.filter { $0["phone"] != nil }
                #expect(named.count == 1 && named[0]["phone"] == "+4930123456" && named[0]["channel"] == "sms")
                #expect(named[0]["target_user_id"]?.stringValue == family.participant.id.description)
                let violations = TestServer.document.check(named[0], schema: schema).map(\.description)
                #expect(Set(violations).isSubset(of: ["/: lacks repeat", "/: lacks devices"]))
            }
        }
    }

    @Test("a webhook in the own network is not called unless the operator named that network")
    func ownNetwork() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                try await server.deliveries(1, to: family.child)
                var options = try provider.options()
                options.networks = NetworkGuard()
                try await server.withWorker(options) { try await $0.run() }
                let row = try #require(try await server.deliveryRows().first)
                #expect(row.status == "pending" && row.failure == HTTPClientError.forbiddenAddress.description)
                #expect(try await provider.received().isEmpty)
            }
        }
    }
}

extension TestServer {
    /// A person's consent to text messages.
    func grantSMS(to person: TestPerson) async throws {
        let id: ConsentID = random.identifier(at: clock.now())
        try await sql(
            """
            INSERT INTO consents (id, user_id, family_id, consent_type, granted_at)
            VALUES (\(id), \(person.id), NULL, 'sms_opt_in', \(clock.now()))
            """)
    }
}
