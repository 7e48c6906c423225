import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The codes of a family")
struct CodeTests {
    private static func renew(
        _ code: FamilyCode, _ family: Household, as person: TestPerson?, _ server: TestServer
    ) async throws -> FamilyResponse {
        try await server.call(
            API.renewFamilyCode, FamilyPath(familyID: family.id), CodeRenewal(code: code), as: person)
    }

    @Test(
        "a guardian renews either code: the old one is no longer valid, and the other stays",
        arguments: FamilyCode.allCases)
    func renew(code: FamilyCode) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let session = try await server.childLogIn(family.childCode, "Cleo", "4711")
            let renewed = try await server.expectOnly(audit: ["family_code.renewed"]) {
                try await Self.renew(code, family, as: family.guardian, server)
            }
            #expect((renewed.inviteCode == family.inviteCode) == (code == .child))
            #expect((renewed.childCode == family.childCode) == (code == .invite))
            let entry = try await server.audit(family.id).last
            #expect(entry?.actor == family.guardian.pseudonym && entry?.details == ["code": code.rawValue])
            #expect(try await server.codes(of: family, as: family.secondGuardian) == renewed)
            let nell = try await server.account()
            let join = try await server.call(
                "POST", "/api/v1/families/join", as: nell, body: ["invite_code": .string(family.inviteCode)])
            #expect(join.status == (code == .invite ? 404 : 201))
            if code == .child {
                try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Cleo", "4711") }
                _ = try await server.childLogIn(try #require(renewed.childCode), "Cleo", "4711")
            }
            #expect(try await server.status(of: session.accessToken, family.id) == 200, "who is in stays in")
        }
    }

    @Test(
        "renewing either code is refused to others than guardians, and both codes stay",
        arguments: [
            ("participant", ["family_code.renew.denied"]), ("child", ["family_code.renew.denied"]), ("stranger", []),
            ("removed", []),
        ])
    func refused(who: String, audit: [String]) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for code in FamilyCode.allCases {
                // Of repeated refusals the first is an entry.
                try await server.expectOnly(audit: code == FamilyCode.allCases[0] ? audit : []) {
                    try await expectRefusal(403) {
                        try await Self.renew(code, family, as: family.somebody(who), server)
                    }
                }
            }
            let codes = try await server.codes(of: family)
            #expect(codes.inviteCode == family.inviteCode && codes.childCode == family.childCode)
        }
    }

    @Test("every renewal at once gives another code, and one of them is the family's", arguments: 0..<3)
    func together(round: Int) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let joiner = try await server.account()
            let outcomes = try await ServerTestKit.together(outcomesOf: 8) { number in
                if number == round {
                    _ = try await server.call(
                        API.joinFamily, JoinRequest(inviteCode: family.inviteCode), as: joiner)
                    return ""
                }
                let guardian = number.isMultiple(of: 2) ? family.guardian : family.secondGuardian
                return try await Self.renew(.invite, family, as: guardian, server).inviteCode
            }
            let codes = outcomes.compactMap { try? $0.get() }.filter { !$0.isEmpty }
            #expect(codes.count == 7 && Set(codes).count == 7)
            #expect(codes.contains(try await server.codes(of: family).inviteCode))
            let kinds = try await server.audit(family.id).map(\.kind)
            #expect(kinds.count { $0 == "family_code.renewed" } == 7)
            // The code of before the first renewal lets in before it or not at all.
            #expect(!kinds.contains("member.joined") || kinds.first == "member.joined", "\(kinds)")
        }
    }

    /// How a membership ends.
    enum Way: String, CaseIterable { case removed, leaving, removingOneself, deletingAccount }

    private static func end(
        _ way: Way, of person: TestPerson, _ family: Household, by other: TestPerson, _ server: TestServer
    ) async throws -> Int {
        let member = "/api/v1/families/\(family.id)/members/\(person.id)"
        switch way {
        case .removed: return try await server.call("DELETE", member, as: other).status
        case .leaving: return try await server.call("POST", "/api/v1/families/\(family.id)/leave", as: person).status
        case .removingOneself: return try await server.call("DELETE", member, as: person).status
        case .deletingAccount:
            return try await server.call("DELETE", "/api/v1/accounts/\(person.id)", as: person).status
        }
    }

    @Test(
        "a guardian who leaves in any way cannot return by the sign-in of a child whose PIN they set",
        arguments: Way.allCases)
    func guardianGoes(way: Way) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let gus = family.secondGuardian
            let cora = try await server.call(
                API.createMember, FamilyPath(familyID: family.id),
                MemberCreateAndAdd(displayName: "Cora", role: .child, username: "cora", pin: try PIN(wireText: "2222")),
                as: gus)
            try await server.call(
                API.setChildCredentials, MemberPath(familyID: family.id, userID: family.child.id),
                ChildCredentialsSet(username: "Cleo", pin: try PIN(wireText: "1111")), as: gus)
            let sessions = [
                try await server.childLogIn(family.childCode, "Cleo", "1111"),
                try await server.childLogIn(family.childCode, "cora", "2222"),
            ]
            #expect(sessions[1].user.id == cora.userID)
            #expect(try await Self.end(way, of: gus, family, by: family.guardian, server) == 200)

            for session in sessions {
                #expect(try await server.status(of: session.accessToken, family.id) == 401)
                try await expectRefusal(401) { try await server.refresh(session.refreshToken) }
            }
            for (name, pin) in [("Cleo", "1111"), ("cora", "2222")] {
                try await expectRefusal(401) { try await server.childLogIn(family.childCode, name, pin) }
            }
            let codes = try await server.codes(of: family)
            #expect(codes.inviteCode != family.inviteCode && codes.childCode != family.childCode)
            if way != .deletingAccount {
                try await expectRefusal(404) {
                    try await server.call(API.joinFamily, JoinRequest(inviteCode: family.inviteCode), as: gus)
                }
            }
            // The children are not locked out: their guardian gives them the new code.
            _ = try await server.childLogIn(try #require(codes.childCode), "Cleo", "1111")
        }
    }

    @Test(
        "a removed participant or child knows no valid code, and one who leaves changes none",
        arguments: [
            ("participant", Way.removed, true), ("child", .removed, true), ("participant", .leaving, false),
            ("participant", .deletingAccount, false),
        ])
    func othersGo(who: String, way: Way, isRenewed: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let sister = try await server.call(
                API.createMember, FamilyPath(familyID: family.id),
                MemberCreateAndAdd(displayName: "Cora", role: .child, username: "cora", pin: try PIN(wireText: "2222")),
                as: family.guardian)
            let session = try await server.childLogIn(family.childCode, "cora", "2222")
            #expect(session.user.id == sister.userID)
            let person = try #require(family.somebody(who))
            #expect(try await Self.end(way, of: person, family, by: family.guardian, server) == 200)
            let codes = try await server.codes(of: family)
            #expect((codes.inviteCode != family.inviteCode) == isRenewed)
            #expect((codes.childCode != family.childCode) == isRenewed)
            #expect(try await server.status(of: session.accessToken, family.id) == 200, "they set no PINs")
        }
    }

    @Test(
        "a sign-in with a child's PIN during its guardian's removal begins no session that lasts",
        arguments: 0..<4)
    func signingInMeanwhile(round: Int) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let tokens = try await ServerTestKit.together(6) { number in
                if number == round {
                    let removed = try await Self.end(
                        .removed, of: family.secondGuardian, family, by: family.guardian, server)
                    #expect(removed == 200)
                    return nil as Secret?
                }
                do {
                    return try await server.childLogIn(family.childCode, "Cleo", "4711").accessToken
                } catch let refusal as APIError {
                    #expect([401, 429].contains(refusal.status))
                    return nil
                }
            }
            for token in tokens.compactMap(\.self) {
                #expect(try await server.status(of: token, family.id) == 401)
            }
        }
    }

    @Test("a sign-in that began before its guardian's removal and ends after it begins no session")
    func signingInAcrossARemoval() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let late = try await server.database.run { database in
                try await database.transaction { transaction in
                    // The code and the name are found, then the try waits to be counted.
                    _ = try await transaction.query("LOCK TABLE pin_attempts IN EXCLUSIVE MODE")
                    let late = Task { try? await server.childLogIn(family.childCode, "Cleo", "4711").accessToken }
                    try await transaction.waitUntilBlocking("the sign-in never came to count its try")
                    let removed = try await Self.end(
                        .removed, of: family.secondGuardian, family, by: family.guardian, server)
                    #expect(removed == 200)
                    return late
                }
            }
            #expect(await late.value == nil)
            #expect(try await server.audit(family.id).allSatisfy { $0.kind != "session.opened" })
            let code = try #require(try await server.codes(of: family).childCode)
            _ = try await server.childLogIn(code, "Cleo", "4711")
        }
    }
}
