import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// Attacks on a block: a creator whom the recipient blocks, or a guardian has suspended, and who still has an open nag.
@Suite("Contact over a block or a suspension")
struct BlockedContactTests {
    enum Obstacle: String, CaseIterable { case blockedByRecipient, blockingTheRecipient, suspended }

    private static func make(_ obstacle: Obstacle, _ family: Household, _ server: TestServer) async throws {
        let (creator, recipient) = (family.participant, family.child)
        switch obstacle {
        case .blockedByRecipient:
            try await server.call(API.createBlock, BlockCreate(targetID: creator.id), as: recipient)
        case .blockingTheRecipient:
            try await server.call(API.createBlock, BlockCreate(targetID: recipient.id), as: creator)
        case .suspended:
            let id: RelationshipID = try await server.database.rows(
                """
                SELECT id FROM relationships
                WHERE \(creator.id) IN (party_a, party_b) AND \(recipient.id) IN (party_a, party_b)
                """
            ) { try $0["id"] }[0]
            try await server.call(
                API.suspendRelationship, RelationshipPath(relationshipID: id), as: family.guardian)
        }
    }

    private static func note(
        _ nag: NagID, _ family: Household, as person: TestPerson, _ server: TestServer, id: UInt64 = 1
    )
        async throws -> InputOutcome?
    {
        let item = OutboxItem(
            clientID: InputID(high: 0x0c, low: id), nagID: nag, act: .note(text: "you cannot get rid of me"),
            madeAt: server.clock.now())
        return try await server.call(
            API.uploadEvents, OutboxUpload(familyID: family.id, items: [item]), as: person
        ).results.first?.outcome
    }

    @Test("over a block or suspension a creator cannot edit or note, but can end the nag", arguments: Obstacle.allCases)
    func creator(obstacle: Obstacle) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (pat, child) = (family.participant, family.child)
            let nag = try await server.nag(from: pat, to: child)
            let second = try await server.nag(from: pat, to: child)
            try await Self.make(obstacle, family, server)
            let edits: [NagUpdate] = [
                NagUpdate(dueAt: server.clock.now() + .hours(5)), NagUpdate(category: .homework),
                NagUpdate(doneDefinition: .acknowledgeOnly),
                NagUpdate(dueAt: server.clock.now() + .hours(5), category: .homework),
            ]
            for edit in edits {
                server.clock.advance(by: .minutes(1))
                try await server.expect(.refusal(.policyForbidden)) {
                    try await server.call(API.updateNag, NagPath(nagID: nag.id), edit, as: pat)
                }
            }
            let notes = try await server.expectOnly(audit: ["nag.add_note.denied", "input.not_applied"]) {
                try await Self.note(nag.id, family, as: pat, server)
            }
            #expect(notes == .refused)
            // Nor words the other way round.
            let back = try await server.expectOnly(audit: ["nag.add_note.denied", "input.not_applied"]) {
                try await Self.note(nag.id, family, as: child, server, id: 2)
            }
            #expect(back == .refused)
            let page = try await server.call(API.syncEvents, SyncQuery(familyID: family.id), as: child)
            #expect(page.nagEvents.allSatisfy { $0.eventType == "nag_created" })

            // A guardian with whom there is no obstacle edits on; the two people end what is between them.
            _ = try await server.call(
                API.updateNag, NagPath(nagID: nag.id), NagUpdate(category: .other), as: family.guardian)
            #expect(try await server.complete(nag.id, as: child).status == .completed)
            let withdrawn = try await server.call(API.withdrawNag, NagPath(nagID: second.id), as: pat)
            #expect(withdrawn.status == .withdrawn)
        }
    }

    @Test("over a block or suspension no excuse reaches the creator", arguments: Obstacle.allCases)
    func excuse(obstacle: Obstacle) async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [.aiMediation])
            let path = NagPath(nagID: try await server.nag(from: family.participant, to: family.child).id)
            let other = NagPath(nagID: try await server.nag(from: family.guardian, to: family.child).id)
            try await Self.make(obstacle, family, server)
            try await server.expectOnly(audit: ["nag.submit_excuse.denied"]) {
                try await server.expect(.refusal(.policyForbidden)) {
                    try await server.call(
                        API.submitExcuse, path, ExcuseCreate(text: "you will be sorry"), as: family.child)
                }
            }
            // To a guardian with whom there is no obstacle they go on.
            try await server.call(API.submitExcuse, other, ExcuseCreate(text: "I forgot"), as: family.child)
        }
    }

    @Test("an excuse for a nag whose creator has left is accepted, for the guardians")
    func creatorHasLeft() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [.aiMediation])
            let path = NagPath(nagID: try await server.nag(from: family.participant, to: family.child).id)
            try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: family.participant)
            try await server.call(API.submitExcuse, path, ExcuseCreate(text: "I forgot"), as: family.child)
        }
    }

    @Test("when a block and edits race, no edit comes after the block", arguments: 0..<3)
    func race(round: Int) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            let statuses = try await together(6) { number in
                if number == round {
                    return try await server.call(
                        "POST", "/api/v1/blocks", as: family.child,
                        body: ["target_id": .string(family.participant.id.description)]
                    ).status
                }
                return try await server.call(
                    "PATCH", "/api/v1/nags/\(nag.id)", as: family.participant,
                    body: ["due_at": .string((server.clock.now() + .hours(Int64(3 + number))).rfc3339)]
                ).status
            }
            #expect(statuses.allSatisfy { [200, 201, 403].contains($0) }, "\(statuses)")
            let kinds = try await server.audit(family.id).map(\.kind)
            let block = try #require(kinds.firstIndex(of: "block.created"))
            #expect(!kinds[block...].contains("nag.updated"), "\(kinds)")
        }
    }

    @Test("notes have a daily limit, and the other items of an upload are applied")
    func bound() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            func items(_ range: Range<Int>) -> [OutboxItem] {
                range.map {
                    OutboxItem(
                        clientID: InputID(high: 0x0d, low: UInt64($0)), nagID: nag.id, act: .note(text: "\($0)"),
                        madeAt: server.clock.now())
                }
            }
            func upload(_ items: [OutboxItem]) async throws -> [InputOutcome] {
                try await server.call(
                    API.uploadEvents, OutboxUpload(familyID: family.id, items: items), as: family.child
                ).results.map(\.outcome)
            }
            let most = NagLimit.notesPerDay
            let first = try await upload(items(0..<(most - 1)))
            #expect(first.allSatisfy { $0 == .applied })
            let done = OutboxItem(
                clientID: InputID(high: 0x0d, low: 999), nagID: nag.id, act: .status(.completed, note: nil),
                madeAt: server.clock.now())
            let rest = try await upload(items((most - 1)..<(most + 3)) + [done])
            #expect(rest == [.applied, .refused, .refused, .refused, .applied])
            server.clock.advance(by: .days(1))
            #expect(try await upload(items(200..<201)) == [.applied], "another day")
        }
    }
}
