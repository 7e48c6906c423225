import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// What people do about their telephone numbers.
enum Phones {
    static let phone = "+4930271828"

    static func ask(
        _ phone: String = phone, password: String = TestServer.password, as person: TestPerson, on server: TestServer,
        key: String? = nil
    ) async throws -> Reply {
        try await server.call(
            "POST", "/api/v1/me/phone", as: person, body: ["password": .string(password), "phone": .string(phone)],
            headers: key.map { ["Idempotency-Key": $0] } ?? [:])
    }

    static func confirm(
        _ code: String, as person: TestPerson, on server: TestServer, key: String? = nil
    ) async throws -> Reply {
        try await server.call(
            "POST", "/api/v1/me/phone/confirmation", as: person, body: ["code": .string(code)],
            headers: key.map { ["Idempotency-Key": $0] } ?? [:])
    }

    static func remove(as person: TestPerson, on server: TestServer) async throws -> Reply {
        try await server.call("DELETE", "/api/v1/me/phone", as: person)
    }

    static func phone(of person: TestPerson, on server: TestServer) async throws -> String? {
        try await server.call("GET", "/api/v1/me", as: person).json?["phone"]?.stringValue
    }

    /// Another code than that one.
    static func wrong(_ code: String, _ number: Int = 1) -> String {
        let digits = String((Int(code) ?? 0) + number)
        return String((String(repeating: "0", count: 6) + digits).suffix(6))
    }

    static func household(_ server: TestServer) async throws -> Household {
        let family = try await server.family()
        try await server.setPasswords()
        return family
    }
}

@Suite("The telephone number that text messages go to")
struct PhoneTests {
    @Test("the code that was sent to a number sets it; neither a retry nor a wrong password sends another")
    func sets() async throws {
        try await TestServer.runWithTexts { server, texts in
            let family = try await Phones.household(server)
            let person = family.participant
            let wrong = try await server.expectOnly(audit: ["sign_in.failed"]) {
                try await Phones.ask(password: "wrong", as: person, on: server)
            }
            #expect(wrong.status == 422 && wrong.json?["error"]?["details"]?["field"] == "password")
            let asked = try await server.expectOnly(audit: ["account.phone_requested"]) {
                try await Phones.ask("+49 (30) 27-18.28", as: person, on: server, key: "ask")
            }
            let again = try await Phones.ask("+49 (30) 27-18.28", as: person, on: server, key: "ask")
            #expect(asked.status == 202 && again.body == asked.body)
            #expect(try await Phones.phone(of: person, on: server) == nil)
            let text = try #require(try await texts(1).first)
            #expect(
                text.text == """
                    \(text.code) is your code for Nagz at nagz.example.org. It is valid for 10 minutes. \
                    If you did not ask for it, ignore this message.
                    """)
            #expect(
                Set(text.message.objectValue?.members.map(\.key) ?? []) == [
                    "delivery_id", "channel", "event", "phone", "text",
                ])
            #expect(text.phone == Phones.phone && text.message["channel"] == "sms")
            let typed = "\(text.code.prefix(3)) - \(text.code.suffix(3))"
            let confirmed = try await server.expectOnly(audit: ["account.phone_changed"]) {
                try await Phones.confirm(typed, as: person, on: server, key: "confirm")
            }
            #expect(confirmed.status == 200 && confirmed.json?["phone"]?.stringValue == Phones.phone)
            #expect(try await Phones.phone(of: person, on: server) == Phones.phone)
            let replayed = try await Phones.confirm(typed, as: person, on: server, key: "confirm")
            #expect(replayed.body == confirmed.body && replayed.header("idempotent-replay") == "true")
            #expect(try await Phones.confirm(typed, as: person, on: server).status == 422, "a code works once")
            let export = try await server.call(API.exportAccount, as: person)
            #expect(export.sections[.account]?.first?["phone"]?.stringValue == Phones.phone)
            let entries = try await server.audit(family.id).filter { $0.kind.hasPrefix("account.phone") }
            #expect(entries.count == 2 && entries.allSatisfy { $0.details == [:] && $0.subject == person.pseudonym })
            #expect(try await texts(1).count == 1)
        }
    }

    @Test("a code is over after five wrong ones, after ten minutes, after another one, and for every other account")
    func over() async throws {
        try await TestServer.runWithTexts { server, texts in
            let family = try await Phones.household(server)
            let person = family.guardian
            func refused(_ code: String, as person: TestPerson) async throws {
                let reply = try await Phones.confirm(code, as: person, on: server)
                #expect(reply.status == 422 && reply.json?["error"]?["details"]?["field"] == "code")
            }
            _ = try await Phones.ask(as: person, on: server)
            let first = try #require(try await texts(1).last?.code)
            try await refused(first, as: family.participant)
            for number in 1...5 { try await refused(Phones.wrong(first, number), as: person) }
            try await refused(first, as: person)

            _ = try await Phones.ask(as: person, on: server)
            let second = try #require(try await texts(2).last?.code)
            server.clock.advance(by: PhoneCodes.lifetime)
            try await refused(second, as: person)

            _ = try await Phones.ask("+4930314159", as: person, on: server)
            let third = try #require(try await texts(3).last?.code)
            _ = try await Phones.ask("+4930314160", as: person, on: server)
            let fourth = try #require(try await texts(4).last)
            #expect(fourth.code != third)
            try await refused(third, as: person)
            // Four attempts at it are left.
            for number in 1...3 { try await refused(Phones.wrong(fourth.code, number), as: person) }
            #expect(try await Phones.confirm(fourth.code, as: person, on: server).status == 200)
            #expect(try await Phones.phone(of: person, on: server) == "+4930314160")
            let codes = try await server.rows("SELECT user_id FROM phone_codes")
            #expect(codes.isEmpty)
        }
    }

    @Test("of many guesses at once five are compared, on all instances; of right ones at once, one sets the number")
    func atOnce() async throws {
        try await TestServer.runWithTexts { server, texts in
            let family = try await Phones.household(server)
            let person = family.guardian
            _ = try await Phones.ask(as: person, on: server)
            let code = try #require(try await texts(1).last?.code)
            try await server.withPeers(1) { peers in
                let statuses = try await together(20) { number in
                    try await Phones.confirm(
                        Phones.wrong(code, number + 1), as: person, on: number % 2 == 0 ? server : peers[0]
                    ).status
                }
                #expect(statuses.allSatisfy { $0 == 422 })
                #expect(try await server.rows("SELECT attempts FROM phone_codes") == [["attempts": 5]])
                #expect(try await Phones.confirm(code, as: person, on: server).status == 422)

                _ = try await Phones.ask(as: person, on: server)
                let next = try #require(try await texts(2).last?.code)
                let right = try await server.expectOnly(audit: ["account.phone_changed"]) {
                    try await together(5) { number in
                        try await Phones.confirm(next, as: person, on: number % 2 == 0 ? server : peers[0]).status
                    }
                }
                #expect(right.sorted() == [200, 422, 422, 422, 422])
            }
        }
    }

    @Test("a number is set by its code or replaced by another request, in whatever order they come")
    func race() async throws {
        try await TestServer.runWithTexts { server, texts in
            let family = try await Phones.household(server)
            for (index, person) in [family.guardian, family.participant, family.secondGuardian].enumerated() {
                let (first, second) = ("+493027182\(index)", "+493031415\(index)")
                _ = try await Phones.ask(first, as: person, on: server)
                let code = try #require(try await texts(2 * index + 1).last?.code)
                let statuses = try await together(2) { number in
                    number == 0
                        ? try await Phones.confirm(code, as: person, on: server).status
                        : try await Phones.ask(second, as: person, on: server).status
                }
                #expect(statuses.contains(202))
                let isSet = statuses.contains(200)
                #expect(isSet || statuses.contains(422))
                #expect(try await Phones.phone(of: person, on: server) == (isSet ? first : nil))
                let next = try #require(try await texts(2 * index + 2).last)
                #expect(next.phone == second)
                #expect(try await Phones.confirm(next.code, as: person, on: server).status == 200)
                #expect(try await Phones.phone(of: person, on: server) == second)
            }
        }
    }

    @Test("two requests with one key at the same time send one code, which is the one that works")
    func onceAtOnce() async throws {
        try await TestServer.runWithTexts { server, texts in
            let family = try await Phones.household(server)
            let statuses = try await together(3) { _ in
                try await Phones.ask(as: family.guardian, on: server, key: "ask").status
            }
            #expect(statuses == [202, 202, 202])
            _ = try await Phones.ask("+4930314159", as: family.participant, on: server)
            let sent = try await texts(2)
            #expect(sent.count == 2)
            let code = try #require(sent.first { $0.phone == Phones.phone }?.code)
            #expect(try await Phones.confirm(code, as: family.guardian, on: server).status == 200)
        }
    }

    @Test("without a gateway, or one that is told no numbers, the answer says so, and no code is made")
    func noGateway() async throws {
        let changes: [@Sendable (inout Configuration) -> Void] = [
            { $0.deliveries.sendsTokensAndPhones = false }, { $0.deliveries.sms = .log },
        ]
        for change in changes {
            try await TestServer.runWithTexts(configure: change) { server, texts in
                let family = try await Phones.household(server)
                let reply = try await server.expectOnly { try await Phones.ask(as: family.guardian, on: server) }
                #expect(reply.status == 409 && reply.json?["error"]?["details"]?["reason"] == "sms_not_configured")
                #expect(try await texts(0).isEmpty)
            }
        }
    }

    @Test("children have none: neither one with a sign-in of their own, nor who became a child meanwhile")
    func children() async throws {
        try await TestServer.runWithTexts { server, texts in
            let family = try await Phones.household(server)
            _ = try await Phones.ask(as: family.participant, on: server)
            let code = try #require(try await texts(1).last?.code)
            try await server.sql(
                "UPDATE memberships SET role = 'child' WHERE user_id = \(family.participant.id)")
            for person in [family.participant, family.child] {
                let asked = try await server.expectOnly { try await Phones.ask("+4930314159", as: person, on: server) }
                let confirmed = try await server.expectOnly { try await Phones.confirm(code, as: person, on: server) }
                for reply in [asked, confirmed] {
                    #expect(reply.status == 403)
                    #expect(reply.json?["error"]?["details"]?["reason"] == "phones_for_adults_only")
                }
            }
            #expect(try await Phones.phone(of: family.participant, on: server) == nil)
        }
    }

    // MARK: The end of a number

    @Test("a removed number is gone with the code for another one; without both, nothing happens")
    func removes() async throws {
        try await TestServer.runWithTexts { server, texts in
            let family = try await Phones.household(server)
            let person = family.guardian
            #expect(try await server.expectOnly { try await Phones.remove(as: person, on: server) }.status == 204)
            #expect(try await server.expectOnly { try await Phones.remove(as: family.child, on: server) }.status == 204)
            _ = try await Phones.ask(as: person, on: server)
            _ = try await Phones.confirm(try #require(try await texts(1).last?.code), as: person, on: server)
            _ = try await Phones.ask("+4930314159", as: person, on: server)
            let code = try #require(try await texts(2).last?.code)
            let removed = try await server.expectOnly(audit: ["account.phone_removed"]) {
                try await Phones.remove(as: person, on: server)
            }
            #expect(removed.status == 204 && removed.body.isEmpty)
            #expect(try await Phones.phone(of: person, on: server) == nil)
            #expect(try await Phones.confirm(code, as: person, on: server).status == 422)
            #expect(try await server.expectOnly { try await Phones.remove(as: person, on: server) }.status == 204)
        }
    }

    @Test("a new password ends the code; the account's deletion ends number and code; codes and counts are swept")
    func ends() async throws {
        try await TestServer.runWithTexts { server, texts in
            let family = try await Phones.household(server)
            // Whose deletion has the most parts: codes of the family, open nags, sessions of children.
            let person = family.guardian
            _ = try await server.nag(from: family.participant, to: person, in: family.id)
            _ = try await Phones.ask(as: person, on: server)
            let changed = try await server.call(
                "POST", "/api/v1/me/password", as: person,
                body: ["password": .string(TestServer.password), "new_password": "battery staple"])
            #expect(changed.status == 204)
            let code = try #require(try await texts(1).last?.code)
            #expect(try await Phones.confirm(code, as: person, on: server).status == 422)
            _ = try await Phones.ask(password: "battery staple", as: person, on: server)
            _ = try await Phones.confirm(try #require(try await texts(2).last?.code), as: person, on: server)
            _ = try await Phones.ask("+4930314159", password: "battery staple", as: person, on: server)
            let last = try #require(try await texts(3).last?.code)
            #expect(try await server.call("DELETE", "/api/v1/accounts/\(person.id)", as: person).status == 200)
            let left = try await server.rows("SELECT phone FROM users WHERE phone IS NOT NULL")
            let codes = try await server.rows("SELECT user_id FROM phone_codes")
            #expect(left.isEmpty && codes.isEmpty)
            #expect(try await Phones.confirm(last, as: person, on: server).status == 401)

            _ = try await Phones.ask("+4930314160", as: family.secondGuardian, on: server)
            server.clock.advance(by: .days(1))
            let now = server.clock.now()
            _ = try await server.database.run { try await Housekeeping.applyRetention($0, at: now) }
            for table in ["phone_codes", "sign_in_attempts"] {
                #expect(try await server.rows("SELECT 1 AS n FROM \(SQL(unsafeSQL: table))").isEmpty, "\(table)")
            }
        }
    }
}
