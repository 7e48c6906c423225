import Contract
import Domain
import HTTP
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Password guesses of strangers")
struct LockoutTests {
    /// Believes the tests about where a request comes from.
    private static let behindProxy: @Sendable (inout Configuration) -> Void = { configuration in
        try? configuration.trust(proxies: ["127.0.0.1"])
    }

    private static func logIn(
        _ server: TestServer, _ email: String = "nell@example.org", password: String, from address: String
    ) async throws -> Reply {
        try await server.call(
            "POST", "/api/v1/auth/login", body: ["email": .string(email), "password": .string(password)],
            headers: ["X-Forwarded-For": address])
    }

    @Test("guesses from 150 addresses do not lock the owner out at an address where the account is known")
    func manyAddresses() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            try await server.signUp("nell@example.org")
            #expect(try await Self.logIn(server, password: "correct horse", from: "192.0.2.1").status == 200)
            var statuses: [Int] = []
            for number in 0..<150 {
                let address = "198.51.\(100 + number / 100).\(number % 100)"
                statuses.append(try await Self.logIn(server, password: "wrong", from: address).status)
            }
            #expect(statuses == Array(repeating: 401, count: 100) + Array(repeating: 429, count: 50))
            #expect(try await Self.logIn(server, password: "correct horse", from: "203.0.113.9").status == 429)
            for _ in 0..<3 {
                #expect(try await Self.logIn(server, password: "correct horse", from: "192.0.2.1").status == 200)
            }
            // Where she signed up as well; and her own success does not give the strangers new tries.
            #expect(try await server.logIn("nell@example.org", password: "correct horse").user.email != nil)
            #expect(try await Self.logIn(server, password: "wrong", from: "198.51.100.200").status == 429)
        }
    }

    @Test(
        "guesses at others do not lock an account out at its known address, which allows ten guesses")
    func sharedAddress() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            try await server.signUp("nell@example.org")
            #expect(try await Self.logIn(server, password: "correct horse", from: "192.0.2.1").status == 200)
            for number in 0..<50 {
                let reply = try await Self.logIn(server, "guess\(number)@example.org", password: "x", from: "192.0.2.1")
                #expect(reply.status == 401)
            }
            #expect(try await Self.logIn(server, "one@example.org", password: "x", from: "192.0.2.1").status == 429)
            for number in 0..<15 {
                let reply = try await Self.logIn(server, password: "wrong", from: "192.0.2.1")
                #expect(reply.status == (number < 10 ? 401 : 429))
            }
            #expect(try await Self.logIn(server, password: "correct horse", from: "192.0.2.1").status == 429)
        }
    }

    @Test("an address is known for ninety days after a sign-in, and stored as a hash keyed with the server's key")
    func memory() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            try await server.signUp("nell@example.org")
            _ = try await Self.logIn(server, password: "correct horse", from: "192.0.2.1")
            let kept = try await server.database.rows("SELECT address_hash FROM known_addresses") { row in
                try row["address_hash"] as [UInt8]
            }
            #expect(kept.count == 2)
            func hashes(_ tokens: Tokens) -> [[UInt8]] {
                KnownAddresses.hashes("nell@example.org", RemoteAddress.loopback.network, tokens)
            }
            #expect(kept.contains(try #require(hashes(server.tokens).first)))
            #expect(Set(kept).isDisjoint(with: hashes(Tokens(keys: [[UInt8](repeating: 1, count: 32)]))))
            func useUpLimits() async throws {
                for number in 0..<100 {
                    _ = try await Self.logIn(server, password: "wrong", from: "198.51.100.\(number)")
                }
            }
            server.clock.advance(by: .seconds(90 * 86_400 - 1))
            try await useUpLimits()
            #expect(try await Self.logIn(server, password: "correct horse", from: "192.0.2.1").status == 200)
            server.clock.advance(by: .days(90))
            let now = server.clock.now()
            try await useUpLimits()
            #expect(try await Self.logIn(server, password: "correct horse", from: "192.0.2.1").status == 429)
            _ = try await server.database.run { try await Housekeeping.applyRetention($0, at: now) }
            #expect(try await server.rows("SELECT user_id FROM known_addresses").isEmpty)
        }
    }

    @Test("an address where a session was refreshed is known for the account")
    func renewing() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            let answer = try await server.signUp("nell@example.org")
            let renewed = try await server.call(
                "POST", "/api/v1/auth/refresh", body: ["refresh_token": .string(answer.refreshToken.wireText)],
                headers: ["X-Forwarded-For": "192.0.2.77"])
            #expect(renewed.status == 200)
            for number in 0..<101 {
                _ = try await Self.logIn(server, password: "wrong", from: "198.51.100.\(number)")
            }
            #expect(try await Self.logIn(server, password: "correct horse", from: "192.0.2.78").status == 429)
            #expect(try await Self.logIn(server, password: "correct horse", from: "192.0.2.77").status == 200)
        }
    }

    @Test(
        "strangers cannot tell an account from none by status, words, header fields or the moment of a lockout"
    )
    func enumeration() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            try await server.signUp("active@example.org")
            try await server.signUp("young@example.org", born: DateOfBirth(wireText: "2020-01-01T00:00:00Z"))
            let deleted = try await server.signUp("deleted@example.org")
            try await server.call(
                "DELETE", "/api/v1/accounts/\(deleted.user.id)", token: deleted.accessToken.wireText)
            try await server.signUp("locked@example.org")
            var stories: Set<[String]> = []
            for name in ["active", "young", "deleted", "nobody", "locked"] {
                var story: [String] = []
                for _ in 0..<12 {
                    let reply = try await Self.logIn(
                        server, "\(name)@example.org", password: "wrong", from: "203.0.113.\(name.count)")
                    let names = reply.headers.map { $0.name.lowercased() }.sorted().joined(separator: ",")
                    let words = reply.json?["error"]?["message"]?.stringValue ?? ""
                    story.append("\(reply.status) \(reply.header("retry-after") ?? "") \(words) \(names)")
                }
                stories.insert(story)
            }
            #expect(stories.count == 1, "\(stories)")
        }
    }

    @Test("an attempt that the server was too busy to check counts neither as wrong password nor as wrong PIN")
    func tooBusy() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.signUp("nell@example.org")
            try await server.setPIN(family)
            let busy: @Sendable (inout Configuration) -> Void = { $0.hashingQueueLimitPerPurpose = 0 }
            try await server.withPeers(1, configure: busy) { peers in
                for _ in 0..<12 {
                    let password = try await refusal { try await peers[0].logIn("nell@example.org", password: "wrong") }
                    let unknown = try await refusal { try await peers[0].logIn("no@example.org", password: "wrong") }
                    let pin = try await refusal { try await peers[0].childLogIn(family.childCode, "Cleo", "0000") }
                    #expect([password.status, unknown.status, pin.status] == [503, 503, 503])
                }
                let statuses = try await together(30) { _ in
                    try await refusal { try await peers[0].childLogIn(family.childCode, "Cleo", "0000") }.status
                }
                #expect(statuses.allSatisfy { $0 == 503 || $0 == 429 })
            }
            let counts =
                try await server.rows("SELECT attempts FROM sign_in_attempts WHERE attempts > 0")
                + server.rows("SELECT attempts FROM pin_attempts WHERE attempts > 0 OR locked_until IS NOT NULL")
            #expect(counts.isEmpty, "\(counts)")
            _ = try await server.logIn("nell@example.org", password: "correct horse")
            _ = try await server.childLogIn(family.childCode, "Cleo", "4711")
        }
    }

    @Test("of 120 guesses at once from as many addresses a hundred are checked, and none after them")
    func burst() async throws {
        let configure: @Sendable (inout Configuration) -> Void = { configuration in
            Self.behindProxy(&configuration)
            // None is refused because others are checked.
            configuration.hashingQueueLimitPerPurpose = 200
        }
        try await TestServer.run(configure: configure) { server in
            func guess(_ count: Int, from network: String) async throws -> [Int] {
                try await together(count) { number in
                    try await Self.logIn(server, "no@example.org", password: "x", from: "\(network).\(number)").status
                }
            }
            let first = try await guess(120, from: "198.51.100")
            #expect(first.count { $0 == 401 } == 100 && first.count { $0 == 429 } == 20)
            #expect(try await guess(20, from: "203.0.113").allSatisfy { $0 == 429 })
            #expect(try await server.audit(.outside).count { $0.kind == "sign_in.failed" } == 100)
        }
    }
}

@Suite("Growing lockouts after wrong PINs")
struct PINLockoutTests {
    /// Tries wrong PINs until the door is closed, and returns how many were looked at and how long it stays closed.
    private func guess(_ server: TestServer, _ code: String, _ name: String) async throws -> (tries: Int, wait: Int?) {
        var tries = 0
        while true {
            let error = try await refusal { try await server.childLogIn(code, name, "0000") }
            guard error.status == 401, tries < 100 else { return (tries, error.retryAfter) }
            tries += 1
        }
    }

    @Test(
        "each five wrong PINs lock out for 15 minutes, an hour, then a day, a child and an unknown name alike",
        arguments: ["Cleo", "Nemo"])
    func growing(name: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            for seconds in [900, 3_600, 86_400, 86_400, 86_400] {
                let (tries, wait) = try await guess(server, family.childCode, name)
                #expect(tries == 5 && wait == seconds)
                server.clock.advance(by: .seconds(Int64(seconds) - 1))
                let early = try await refusal { try await server.childLogIn(family.childCode, name, "4711") }
                #expect(early.status == 429 && early.retryAfter == 1)
                server.clock.advance(by: .seconds(1))
            }
        }
    }

    @Test("a right password refunds no later attempt where its own has become available again meanwhile")
    func lateSuccess() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let limit = Attempts.Limit.account("nell@example.org")
            let (first, second) = (server.clock.now(), server.clock.now() + .seconds(20))
            try await server.database.run { database in
                for now in [first, second] { try await Attempts.countOrThrow([limit], at: now, database) }
            }
            func count() async throws -> [JSONValue] {
                try await server.rows("SELECT attempts FROM sign_in_attempts")
            }
            #expect(try await count() == [["attempts": 1]])
            try await server.commit([AttemptStatements.resetAfterSuccess(nil, [limit])], in: .outside, at: first)
            #expect(try await count() == [["attempts": 1]])
            try await server.commit([AttemptStatements.resetAfterSuccess(nil, [limit])], in: .outside, at: second)
            #expect(try await count() == [["attempts": 0]])
        }
    }

    @Test("slow guesses of a PIN get no more attempts than fast ones")
    func slow() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            var tries = 0
            // Four in each quarter of an hour, for three days.
            for _ in 0..<288 {
                for _ in 0..<4 {
                    let error = try await refusal { try await server.childLogIn(family.childCode, "Cleo", "0000") }
                    if error.status == 401 { tries += 1 }
                }
                server.clock.advance(by: .minutes(15))
            }
            #expect(tries <= 25, "\(tries) of 1,152")
        }
    }

    @Test("the right PIN and a new one reset the count; few attempts expire after a day, lockouts after thirty")
    func forgetting() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            func wrong(_ count: Int) async throws {
                for _ in 0..<count {
                    try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Cleo", "0000") }
                }
            }
            try await wrong(5)
            server.clock.advance(by: .minutes(15))
            _ = try await server.childLogIn(family.childCode, "Cleo", "4711")
            #expect(try await guess(server, family.childCode, "Cleo").wait == 900, "the first lockout again")
            try await server.setPIN(family)
            try await wrong(4)
            server.clock.advance(by: .hours(24))
            try await wrong(4)
            server.clock.advance(by: .hours(23))
            #expect(try await guess(server, family.childCode, "Cleo").tries == 1)
            server.clock.advance(by: .days(29))
            #expect(try await guess(server, family.childCode, "Cleo").wait == 3_600, "not forgotten")
            server.clock.advance(by: .days(30))
            let now = server.clock.now()
            _ = try await server.database.run { try await Housekeeping.applyRetention($0, at: now) }
            #expect(try await server.rows("SELECT subject FROM pin_attempts").isEmpty)
            #expect(try await guess(server, family.childCode, "Cleo").wait == 900)
        }
    }

    @Test("guardians see a lockout and lift it, and others can do neither")
    func lifting() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let sibling = try await server.member("Kim", .child, of: family)
            try await server.setPIN(family)
            let path = MemberPath(familyID: family.id, userID: family.child.id)
            func lockedUntil(_ person: TestPerson) async throws -> [Timestamp] {
                try await server.call(API.listMembers, FamilyMembersQuery(familyID: family.id), as: person)
                    .items.compactMap(\.loginLockedUntil)
            }
            let nothing = try await server.expectOnly {
                try await server.call(API.unlockMember, path, as: family.guardian)
            }
            #expect(nothing.hasChildLogin && nothing.loginLockedUntil == nil)
            _ = try await guess(server, family.childCode, "Cleo")
            #expect(try await lockedUntil(family.secondGuardian) == [server.clock.now() + .minutes(15)])
            #expect(try await lockedUntil(family.participant).isEmpty)
            #expect(try await lockedUntil(sibling).isEmpty)
            for person in [family.participant, sibling] {
                try await server.expectOnly(audit: ["child_lockout.lift.denied"]) {
                    try await expectRefusal(403) { try await server.call(API.unlockMember, path, as: person) }
                }
            }
            try await server.expectOnly {
                try await expectRefusal(403) { try await server.call(API.unlockMember, path, as: family.stranger) }
            }
            try await expectRefusal(429) { try await server.childLogIn(family.childCode, "Cleo", "4711") }
            try await server.expectOnly(audit: ["child_lockout.lifted"]) {
                try await server.call(API.unlockMember, path, as: family.guardian)
            }
            #expect(try await server.audit(family.id).last?.subject == family.child.pseudonym)
            #expect(try await lockedUntil(family.guardian).isEmpty)
            _ = try await server.childLogIn(family.childCode, "Cleo", "4711")
            #expect(try await guess(server, family.childCode, "Cleo").wait == 900)
        }
    }

    @Test("a child's PIN change and sign-in share one count of wrong PINs")
    func sharedWithChange() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let path = MemberPath(familyID: family.id, userID: family.child.id)
            let answer = try await server.childLogIn(family.childCode, "Cleo", "4711")
            let claims = try server.tokens.verify(answer.accessToken.wireText, at: server.clock.now())
            let child = TestPerson(
                id: claims.user, session: claims.session, pseudonym: family.child.pseudonym, name: "Cleo")
            let change = PinChangeRequest(currentPin: try PIN(wireText: "0000"), newPin: try PIN(wireText: "1234"))
            for _ in 0..<3 {
                try await expectRefusal(422) { try await server.call(API.changePIN, path, change, as: child) }
            }
            #expect(try await guess(server, family.childCode, "Cleo").tries == 2)
            try await expectRefusal(429) { try await server.call(API.changePIN, path, change, as: child) }
        }
    }
}
