import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Blocks and relationships")
struct SafetyTests {
    private static func block(_ target: TestPerson, as person: TestPerson, on server: TestServer) async throws
        -> BlockResponse
    {
        try await server.call(API.createBlock, BlockCreate(targetID: target.id), as: person)
    }

    @Test("a pair has one block, which can be repeated, lifted and restored")
    func life() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let block = try await server.expectOnly(audit: ["block.created"]) {
                try await Self.block(family.guardian, as: family.child, on: server)
            }
            #expect(block.actorID == family.child.id && block.targetID == family.guardian.id && block.state == .active)
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.actor == family.child.pseudonym && entry.subject == family.guardian.pseudonym)
            #expect(entry.resource == block.id.retyped())
            let again = try await server.expectOnly {
                try await Self.block(family.guardian, as: family.child, on: server)
            }
            #expect(again == block)
            func set(_ state: BlockState, _ person: TestPerson) async throws -> BlockResponse {
                try await server.call(
                    API.updateBlock, BlockPath(blockID: block.id), BlockUpdate(state: state), as: person)
            }
            let lifted = try await server.expectOnly(audit: ["block.lifted"]) { try await set(.lifted, family.child) }
            #expect(lifted.id == block.id && lifted.state == .lifted)
            _ = try await server.expectOnly { try await set(.lifted, family.child) }
            let back = try await server.expectOnly(audit: ["block.created"]) {
                try await Self.block(family.guardian, as: family.child, on: server)
            }
            #expect(back == block)
            try await server.expectOnly {
                for person in [family.guardian, family.participant, family.stranger] {
                    try await server.expect(.refusal(.notFound)) { try await set(.lifted, person) }
                }
            }
            let changed = try await server.rows(
                "SELECT authority_seq, seq FROM family_clock WHERE family_id = \(family.id)")
            #expect(changed[0]["authority_seq"] == changed[0]["seq"])
        }
    }

    @Test("nobody can block themself, a deleted account or a stranger")
    func targets() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let gone = try await server.account("Gone", status: "deleted")
            try await server.expectOnly {
                try await server.expect(.refusal(.validationFailed, "target_id")) {
                    try await Self.block(family.child, as: family.child, on: server)
                }
                try await server.expect(.refusal(.notFound)) {
                    try await Self.block(gone, as: family.child, on: server)
                }
                // Whether somebody exists with whom one has nothing to do is not told: the same answer, word for word.
                let nobody = BlockCreate(targetID: server.random.identifier(at: server.clock.now()))
                var answers: [APIError] = []
                for (target, person) in [
                    (nobody.targetID, family.child), (family.stranger.id, family.child),
                    (family.guardian.id, family.stranger), (nobody.targetID, family.stranger),
                ] {
                    answers.append(
                        try await expectRefusal(404) {
                            try await server.call(API.createBlock, BlockCreate(targetID: target), as: person)
                        })
                }
                #expect(Set(answers).count == 1)
            }
        }
    }

    @Test("somebody without a family can block, and ten requests at once make one block")
    func outside() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = family.removed
            let outcomes = try await server.expectOnly(audit: ["block.created"]) {
                try await together(outcomesOf: 10) { _ in try await Self.block(family.guardian, as: nell, on: server) }
            }
            #expect(Set(try outcomes.map { try $0.get() }).count == 1)
            #expect(try await server.audit(.outside).map(\.kind) == ["block.created"])
        }
    }

    @Test("one's own blocks are listed newest first, in pages")
    func list() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            var made: [BlockResponse] = []
            for target in [family.guardian, family.secondGuardian, family.child] {
                server.clock.advance(by: .seconds(1))
                made.insert(try await Self.block(target, as: family.participant, on: server), at: 0)
            }
            _ = try await Self.block(family.participant, as: family.guardian, on: server)
            let page = try await server.call(API.listBlocks, PageRequest(limit: 2), as: family.participant)
            #expect(page.items == Array(made.prefix(2)) && page.total == 3)
            let rest = try await server.call(API.listBlocks, PageRequest(limit: 2, offset: 2), as: family.participant)
            #expect(rest.items == [made[2]] && rest.total == 3)
            let none = try await server.call(API.listBlocks, PageRequest(), as: family.child)
            #expect(none.items.isEmpty && none.total == 0)
        }
    }

    // MARK: Relationships

    private static func suspend(
        _ id: RelationshipID, as person: TestPerson, on server: TestServer
    ) async throws -> RelationshipResponse {
        try await server.call(API.suspendRelationship, RelationshipPath(relationshipID: id), as: person)
    }

    private static func id(_ one: TestPerson, _ other: TestPerson, on server: TestServer) async throws -> RelationshipID
    {
        let (one, other) = (one.id, other.id)
        return try await server.database.rows(
            "SELECT id FROM relationships WHERE \(one) IN (party_a, party_b) AND \(other) IN (party_a, party_b)"
        ) { try $0["id"] }[0]
    }

    @Test("a guardian suspends any relationship of the family by its id, and a second suspension changes nothing")
    func byID() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await Self.id(family.participant, family.child, on: server)
            let suspended = try await server.expectOnly(audit: ["relationship.suspended"]) {
                try await Self.suspend(id, as: family.guardian, on: server)
            }
            #expect(suspended.id == id && suspended.status == .suspended)
            let parties = [family.participant.id, family.child.id].sorted()
            #expect(suspended.partyA == parties[0] && suspended.partyB == parties[1])
            let again = try await server.expectOnly {
                try await Self.suspend(id, as: family.secondGuardian, on: server)
            }
            #expect(again == suspended)
            try await server.expect(.refusal(.policyForbidden)) {
                try await server.nag(from: family.participant, to: family.child)
            }
        }
    }

    @Test("a suspension by a user's id is of the guardian's own relationship with them")
    func byUser() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let suspended = try await server.expectOnly(audit: ["relationship.suspended"]) {
                try await Self.suspend(family.participant.id.retyped(), as: family.guardian, on: server)
            }
            #expect(try await suspended.id == Self.id(family.guardian, family.participant, on: server))
            #expect(try await server.audit(family.id).last?.subject == family.participant.pseudonym)
            for (from, to) in [(family.participant, family.guardian), (family.guardian, family.participant)] {
                try await server.expect(.refusal(.policyForbidden)) { try await server.nag(from: from, to: to) }
            }
            try await server.expectOnly {
                for person in [family.stranger, family.guardian] {
                    try await server.expect(.refusal(.notFound)) {
                        try await Self.suspend(person.id.retyped(), as: family.guardian, on: server)
                    }
                }
            }
        }
    }

    @Test("nobody but a guardian of the family suspends a relationship")
    func refused() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await Self.id(family.participant, family.child, on: server)
            for person in [family.participant, family.child] {
                try await server.expectOnly(audit: ["relationship.suspend.denied"]) {
                    try await server.expect(.refusal(.authorizationDenied)) {
                        try await Self.suspend(id, as: person, on: server)
                    }
                }
            }
            try await server.expectOnly {
                for person in [family.stranger, family.removed] {
                    try await server.expect(.refusal(.notFound)) { try await Self.suspend(id, as: person, on: server) }
                }
            }
        }
    }

    /// With the invite code as guardians read it.
    private func rejoin(_ person: TestPerson, _ family: Household, _ server: TestServer) async throws {
        let code = try await server.codes(of: family).inviteCode
        try await server.call(API.joinFamily, JoinRequest(inviteCode: code), as: person)
    }

    @Test(
        "leaving and joining again keeps a suspension, and a guardian who adds the child again ends it",
        arguments: [false, true])
    func rejoining(onGuardiansWord: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (participant, child) = (family.participant, family.child)
            let id = try await Self.id(participant, child, on: server)
            let suspended = try await Self.suspend(id, as: family.guardian, on: server)
            let person = onGuardiansWord ? child : participant
            if onGuardiansWord {
                try await server.call(
                    API.removeMember, MemberPath(familyID: family.id, userID: child.id), as: family.guardian)
            } else {
                try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: participant)
            }
            let away = try await server.relationships(of: person.id, in: family.id)
            #expect(away == ["suspended": 1, "revoked": 2])
            // Suspended or not, it lets nothing through to somebody who is no member.
            try await server.expect(.refusal(.policyForbidden)) {
                try await server.nag(from: family.guardian, to: person)
            }
            let again = try await server.expectOnly {
                try await Self.suspend(id, as: family.secondGuardian, on: server)
            }
            #expect(again == suspended)

            if onGuardiansWord {
                try await server.call(
                    API.addMember, FamilyPath(familyID: family.id), MemberAdd(userID: child.id, role: .child),
                    as: family.guardian)
            } else {
                try await rejoin(participant, family, server)
            }
            let back = try await server.relationships(of: person.id, in: family.id)
            #expect(back == (onGuardiansWord ? ["active": 3] : ["suspended": 1, "active": 2]))
            _ = try await server.nag(from: participant, to: family.guardian)
            if onGuardiansWord {
                _ = try await server.nag(from: participant, to: child)
            } else {
                try await server.expect(.refusal(.policyForbidden)) {
                    try await server.nag(from: participant, to: child)
                }
            }
        }
    }

    @Test("a suspension stays when both parties leave and join again")
    func bothRejoining() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (one, other) = (family.participant, family.secondGuardian)
            _ = try await Self.suspend(try await Self.id(one, other, on: server), as: family.guardian, on: server)
            for person in [one, other] {
                try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: person)
            }
            for person in [one, other] { try await rejoin(person, family, server) }
            #expect(try await server.relationships(of: one.id, in: family.id) == ["suspended": 1, "active": 2])
            for (from, to) in [(one, other), (other, one)] {
                try await server.expect(.refusal(.policyForbidden)) { try await server.nag(from: from, to: to) }
            }
        }
    }

    @Test("when a block and nags race, no nag is created after the block")
    func race() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let outcomes = try await together(outcomesOf: 8) { number in
                if number == 3 {
                    _ = try await Self.block(family.participant, as: family.guardian, on: server)
                } else {
                    _ = try await server.nag(from: family.participant, to: family.guardian)
                }
            }
            #expect(outcomes.count == 8)
            let kinds = try await server.audit(family.id).map(\.kind)
            let block = try #require(kinds.firstIndex(of: "block.created"))
            #expect(!kinds[block...].contains("nag.created"))
            #expect(!kinds[..<block].contains("nag.create.denied"))
        }
    }
}

/// Who may do what in the group `safety`.
extension MatrixRow {
    static let safety: [MatrixRow] = [
        MatrixRow(API.listBlocks, concern: .caller, allowed: .everybody) { _ in (PageRequest(), NoBody()) },
        MatrixRow(
            API.createBlock, concern: .caller, allowed: .members.subtracting([.participant]), refusals: [404, 422]
        ) {
            (NoParameters(), BlockCreate(targetID: $0.family.participant.id))
        },
        MatrixRow(API.updateBlock, allowed: [.guardian]) {
            (BlockPath(blockID: $0.block), BlockUpdate(state: .lifted))
        },
        MatrixRow(API.suspendRelationship, allowed: .guardians) {
            (RelationshipPath(relationshipID: $0.relationship), NoBody())
        },
    ]
}
