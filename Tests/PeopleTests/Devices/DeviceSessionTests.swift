import Contract
import Domain
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Push tokens and the end of their session")
struct DeviceSessionTests {
    private static func person(_ answer: AuthResponse, on server: TestServer) throws -> TestPerson {
        let claims = try server.tokens.verify(answer.accessToken.wireText, at: server.clock.now())
        return TestPerson(id: claims.user, session: claims.session, pseudonym: Pseudonym(high: 0, low: 0), name: "Ada")
    }

    @Test("signing out removes the session's push tokens, and no other session's")
    func logOut() async throws {
        try await TestServer.run { server in
            let first = try await server.signUp("ada@example.org")
            let second = try await server.logIn("ada@example.org", password: "correct horse")
            try await server.register("phone", as: Self.person(first, on: server))
            try await server.register("tablet", as: Self.person(second, on: server))
            try await server.call(API.logOut, RefreshRequest(refreshToken: first.refreshToken))
            #expect(try await server.storedTokens() == ["tablet"])
            // The phone signs in again: the device belongs to its new session.
            let third = try await server.logIn("ada@example.org", password: "correct horse")
            try await server.register("tablet", as: Self.person(third, on: server))
            try await server.call(API.logOut, RefreshRequest(refreshToken: second.refreshToken))
            #expect(try await server.storedTokens() == ["tablet"])
            let out = try await server.call("POST", "/api/v1/auth/logout", token: third.accessToken.wireText)
            #expect(out.status == 204)
            #expect(try await server.storedTokens() == [])
        }
    }

    @Test("a refresh token used twice ends the session with its push tokens")
    func stolenRefreshToken() async throws {
        try await TestServer.run { server in
            let session = try await server.signUp("ada@example.org")
            try await server.register("phone", as: Self.person(session, on: server))
            _ = try await server.refresh(session.refreshToken)
            #expect(try await server.storedTokens() == ["phone"])
            server.clock.advance(by: Tokens.refreshGrace)
            server.clock.advance(by: .seconds(1))
            try await expectRefusal(401) { try await server.refresh(session.refreshToken) }
            #expect(try await server.storedTokens() == [])
        }
    }

    @Test("leaving, a removal and a deletion remove all of the person's push tokens, and nobody else's")
    func departures() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (participant, co, child) = (family.participant, family.secondGuardian, family.child)
            let loner = try await server.account()
            for person in family.members + [loner] {
                try await server.register("\(person.name) phone", as: person)
                try await server.register("\(person.name) tablet", as: try await server.anotherSession(of: person))
            }
            #expect(try await server.storedTokens().count == 10)
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: participant.id), as: family.guardian)
            #expect(try await server.storedTokens().count == 8)
            #expect(try await server.tokens(of: participant) == [])
            try await server.call(API.deleteAccount, AccountPath(userID: child.id), as: family.guardian)
            try await server.call(API.deleteAccount, AccountPath(userID: loner.id), as: loner)
            #expect(
                try await server.storedTokens()
                    == ["Gia phone", "Gia tablet", "Gus phone", "Gus tablet"])
            try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: co)
            #expect(try await server.storedTokens() == ["Gia phone", "Gia tablet"])
            // Who has left is still signed in, and may register again.
            try await server.register("Gus phone", as: co)
            #expect(try await server.tokens(of: co) == ["Gus phone"])
        }
    }

    @Test("a new PIN ends a child's sessions with their push tokens, and housekeeping removes the rest")
    func sessions() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.register("child", as: family.child)
            try await server.register("guardian", as: family.guardian)
            try await server.setPIN(family)
            #expect(try await server.storedTokens() == ["guardian"])
            try await server.sql("DELETE FROM sessions WHERE id = \(family.guardian.session)")
            #expect(try await server.storedTokens() == [])
        }
    }

    @Test("of registrations and a sign-out at once no push token outlives the session")
    func race() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for round in 0..<10 {
                let person = try await server.anotherSession(
                    of: round.isMultiple(of: 2) ? family.guardian : family.removed)
                let outcomes = try await together(outcomesOf: 6) { number in
                    if number == round % 6 {
                        let reply = try await server.call(
                            "POST", "/api/v1/auth/logout", token: server.token(person))
                        #expect(reply.status == 204)
                    } else {
                        try await server.register("round \(round) \(number)", as: person)
                    }
                }
                #expect(outcomes.count == 6)
                #expect(try await server.storedTokens() == [])
            }
        }
    }
}
