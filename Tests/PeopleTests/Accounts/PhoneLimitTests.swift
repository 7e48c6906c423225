import Contract
import Domain
import HTTPClient
import JSON
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("How many codes for telephone numbers are sent, and what must not leak")
struct PhoneLimitTests {
    @Test(
        "a number gets three codes, and one more each eight hours, whoever asks, on all instances; who has it changes no answer"
    )
    func ofOneNumber() async throws {
        try await TestServer.runWithTexts { server, texts in
            let family = try await Phones.household(server)
            _ = try await Phones.ask(as: family.guardian, on: server)
            let code = try #require(try await texts(1).last?.code)
            #expect(try await Phones.confirm(code, as: family.guardian, on: server).status == 200)
            let asked = try await Phones.ask(as: family.participant, on: server)
            let unknown = try await Phones.ask("+4930314159", as: family.secondGuardian, on: server)
            #expect(asked.status == 202 && asked.body == unknown.body)
            // A wrong password is not counted.
            _ = try await Phones.ask(password: "wrong", as: family.participant, on: server)
            try await server.withPeers(1) { peers in
                let statuses = try await together(4) { number in
                    try await Phones.ask(
                        as: number < 2 ? family.participant : family.secondGuardian,
                        on: number % 2 == 0 ? server : peers[0]
                    ).status
                }
                #expect(statuses.sorted() == [202, 429, 429, 429])
            }
            let refused = try await server.expectOnly { try await Phones.ask(as: family.stranger, on: server) }
            #expect(refused.status == 429 && refused.header("retry-after") == "28800")
            let message = refused.json?["error"]?["message"]?.stringValue ?? ""
            #expect(message.hasPrefix("This number got 3 codes within 24 hours, which is the maximum. Try again after"))
            #expect(!message.contains("271828"))
            server.clock.advance(by: .hours(8))
            // What was counted outlives the counts of passwords.
            let now = server.clock.now()
            _ = try await server.database.run { try await Housekeeping.applyRetention($0, at: now) }
            #expect(try await Phones.ask(as: family.stranger, on: server).status == 202)
            #expect(try await Phones.ask(as: family.stranger, on: server).status == 429)
            server.clock.advance(by: .days(1))
            for status in [202, 202, 202, 429] {
                #expect(try await Phones.ask(as: family.secondGuardian, on: server).status == status)
            }
        }
    }

    @Test("all instances together send a hundred codes an hour; what is refused for another reason is not counted")
    func altogether() async throws {
        try await TestServer.run { server in
            let family = try await Phones.household(server)
            _ = try await Phones.ask(as: family.guardian, on: server)
            let isOfAll: SQL = "WHERE subject = \(Attempts.Limit.phoneCodesOverall.subject)"
            try await server.sql("UPDATE sign_in_attempts SET attempts = 98 \(isOfAll)")
            let statuses = try await together(6) { number in
                try await Phones.ask(
                    "+493031415\(number)", as: [family.guardian, family.participant, family.stranger][number % 3],
                    on: server
                ).status
            }
            #expect(statuses.sorted() == [202, 202, 429, 429, 429, 429])
            let refused = try await server.expectOnly {
                try await Phones.ask("+4930161803", as: family.secondGuardian, on: server)
            }
            #expect(refused.status == 429 && refused.header("retry-after") == "36")
            #expect(refused.json?["error"]?["message"]?.stringValue?.contains("100 codes by text message") == true)
            let counted = try await server.rows("SELECT sum(attempts)::bigint AS sum FROM sign_in_attempts")
            #expect(counted == [["sum": 103]], "those of the numbers that were refused are refunded")
            server.clock.advance(by: .seconds(36))
            #expect(try await Phones.ask("+4930161803", as: family.secondGuardian, on: server).status == 202)
            // Who has asked five times is refused, and nothing of that is counted.
            let before = try await server.rows(
                "SELECT encode(subject, 'hex') AS s, attempts FROM sign_in_attempts ORDER BY 1")
            try await server.sql("UPDATE daily_counts SET count = 5 WHERE act = 'phone_codes'")
            #expect(try await Phones.ask("+4930161803", as: family.secondGuardian, on: server).status == 429)
            let after = try await server.rows(
                "SELECT encode(subject, 'hex') AS s, attempts FROM sign_in_attempts ORDER BY 1")
            #expect(before == after)
        }
    }

    // MARK: What must not leak

    @Test("number and code reach no log and no audit table; a code is stored in no form that a reader could guess")
    func canaries() async throws {
        try await TestServer.runWithTexts(configure: { $0.logLevel = .info }) { server, texts in
            let family = try await Phones.household(server)
            _ = try await Phones.ask(as: family.guardian, on: server)
            let code = try #require(try await texts(1).last?.code)
            let stored = try await server.rows("SELECT encode(code_hash, 'hex') AS hash FROM phone_codes")
            let other = Tokens(keys: [[UInt8](repeating: 8, count: 32)])
            let guess = PhoneCodes.hashes(code, of: family.guardian.id, for: Phones.phone, other)[0]
            #expect(
                stored != [
                    ["hash": .string(guess.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())]
                ])
            _ = try await Phones.confirm(Phones.wrong(code), as: family.guardian, on: server)
            _ = try await Phones.confirm(code, as: family.guardian, on: server, key: "confirm")
            _ = try await Phones.ask("+49 30 271 828 x", as: family.guardian, on: server)
            _ = try await Phones.ask(password: "wrong", as: family.participant, on: server)
            for _ in 0..<3 { _ = try await Phones.ask(as: family.participant, on: server) }
            _ = try await Phones.remove(as: family.guardian, on: server)
            let log = try await server.logged { $0.joined().contains(#""method":"DELETE""#) }.joined(separator: "\n")
            #expect(log.contains("/api/v1/me/phone"))
            let audit = try await server.audit(family.id).map { "\($0)" }.joined(separator: "\n")
            #expect(audit.contains("account.phone_removed"))
            for word in ["271828", "271 828", "\"\(code)\"", " \(code) "] {
                #expect(!log.contains(word) && !audit.contains(word), "\(word)")
            }
            let kept = try await server.rows(
                "SELECT 1 AS n FROM idempotency_keys WHERE position('271828' IN encode(body, 'escape')) > 0")
            #expect(kept.isEmpty)
        }
    }

    @Test("a gateway that fails gets the code again, and one that refuses it is in the log, without the number")
    func failures() async throws {
        try await TestHTTPServer.with { gateway in
            let refusing = try gateway.webhook("fail400")
            try await TestServer.run(
                configure: {
                    $0.deliveries.sms = refusing
                    $0.deliveries.networks = NetworkGuard(allowing: [NetworkBlock("127.0.0.0/8")].compactMap { $0 })
                }, toleratesFaults: true
            ) { server in
                let family = try await Phones.household(server)
                #expect(try await Phones.ask(as: family.guardian, on: server).status == 202)
                let lines = try await server.logged { $0.joined().contains("code_not_sent") }
                let line = try #require(lines.first { $0.contains("code_not_sent") })
                #expect(line.contains("status 400") && !line.contains("271828"))
            }
        }
    }
}
