import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Creating nags")
struct CreateNagTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        let from: Who, to: Who
        let expected: Expected
        var testDescription: String { "\(from.rawValue) → \(to.rawValue)" }

        init(_ from: Who, _ to: Who, _ expected: Expected) {
            (self.from, self.to, self.expected) = (from, to, expected)
        }
    }

    static let pairs: [Pair] = [
        Pair(.guardian, .child, .success), Pair(.guardian, .guardian, .success),
        Pair(.guardian, .secondGuardian, .success), Pair(.participant, .guardian, .success),
        Pair(.participant, .child, .success), Pair(.participant, .participant, .success),
        Pair(.child, .guardian, .refusal(.policyForbidden)), Pair(.child, .child, .refusal(.policyForbidden)),
        Pair(.guardian, .removed, .refusal(.policyForbidden)), Pair(.guardian, .stranger, .refusal(.notFound)),
        Pair(.removed, .child, .refusal(.authorizationDenied)), Pair(.stranger, .child, .refusal(.authorizationDenied)),
    ]

    @Test("each pair of creator and recipient may or may not have a nag, by role and membership", arguments: pairs)
    func roles(_ pair: Pair) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let order = server.order(for: pair.to(family), in: family.id)
            let (audit, events, stamped) =
                switch pair.expected {
                case .success: (["nag.created"], ["nag_created"], 1)
                case .refusal(.policyForbidden, _): (["nag.create.denied"], [], 0)
                case .refusal: ([], [], 0)
                }
            try await server.expectOnly(audit: audit, events: events, stamped: stamped) {
                try await server.expect(pair.expected) {
                    try await server.call(API.createNag, order, as: pair.from(family))
                }
            }
        }
    }

    @Test("a new nag is in answer, feed and audit log, and the entry has none of its words")
    func answer() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let order = server.order(for: family.child, in: family.id, .homework, .binaryWithNote, every: .weekly)
            let nag = try await server.call(API.createNag, order, as: family.participant)
            #expect(nag.familyID == family.id && nag.connectionID == nil && nag.status == .open)
            #expect(nag.creatorID == family.participant.id && nag.creatorDisplayName == "Pat")
            #expect(nag.recipientID == family.child.id && nag.recipientDisplayName == "Cleo")
            #expect(nag.dueAt == order.dueAt && nag.createdAt == server.clock.now())
            #expect(nag.recurrence == .weekly && nag.doneDefinition == .binaryWithNote && nag.description == "Please")
            #expect(try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child) == nag)
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.actor == family.participant.pseudonym && entry.subject == family.child.pseudonym)
            #expect(entry.resource == nag.id.retyped())
            #expect(entry.details == ["category": "homework", "due_at": order.dueAt.rfc3339, "source": "text"])
            let payload = try #require(try await server.payloads("nag_created", of: nag.id).first)
            #expect(payload.contains("\"category\": \"homework\"") && payload.contains(family.child.id.description))
            #expect(!payload.contains("Please"))
        }
    }

    @Test("a nag without a family is in the creator's own, and is refused to a creator without one")
    func ownFamily() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.expectOnly(
                audit: ["nag.created"], events: ["nag_created"], stamped: 1
            ) {
                try await server.call(
                    API.createNag, server.order(for: family.child, in: nil), as: family.participant)
            }
            #expect(nag.familyID == family.id)
            let nell = try await server.account()
            try await server.expectOnly {
                for person in [nell, family.removed] {
                    try await server.expect(.refusal(.validationFailed, "family_id")) {
                        try await server.call(API.createNag, server.order(for: family.child, in: nil), as: person)
                    }
                }
                // The recipient is looked for in the creator's family alone.
                try await server.expect(.refusal(.notFound)) {
                    try await server.call(
                        API.createNag, server.order(for: family.child, in: nil), as: family.stranger)
                }
            }
        }
    }

    @Test("a nag with contradictory, past or unknown fields is refused by the field")
    func inputs() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (connection, policy): (ConnectionID, PolicyID) = (
                server.random.identifier(at: server.clock.now()), server.random.identifier(at: server.clock.now())
            )
            let good = server.order(for: family.child, in: family.id)
            var (both, remote, past, present, foreign) = (good, good, good, good, good)
            both.connectionID = connection
            (remote.familyID, remote.connectionID) = (nil, connection)
            past.dueAt = server.clock.now() - .seconds(1)
            present.dueAt = server.clock.now()
            foreign.policyID = policy
            let scenarios: [(NagCreate, String)] = [
                (both, "connection_id"), (past, "due_at"),
                (present, "due_at"), (foreign, "policy_id"),
            ]
            for (order, field) in scenarios {
                try await server.expectOnly {
                    try await server.expect(.refusal(.validationFailed, field)) {
                        try await server.call(API.createNag, order, as: family.guardian)
                    }
                }
            }
            try await server.expectOnly {
                try await server.expect(.refusal(.authenticationFailed)) {
                    try await server.call(API.createNag, good)
                }
                try await server.expect(.refusal(.notFound)) {
                    try await server.call(API.createNag, remote, as: family.guardian)
                }
            }
            var own = good
            let rows = try await server.rows("SELECT id FROM policies WHERE family_id = \(family.id)")
            own.policyID = try PolicyID(wireText: rows[0]["id"]?.stringValue ?? "")
            _ = try await server.call(API.createNag, own, as: family.guardian)
        }
    }

    @Test("a block keeps both people from nagging each other until it is lifted", arguments: [true, false])
    func blocks(creatorBlocks: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (blocker, blocked) =
                creatorBlocks
                ? (family.participant, family.guardian) : (family.guardian, family.participant)
            let block = try await server.call(API.createBlock, BlockCreate(targetID: blocked.id), as: blocker)
            let order = server.order(for: family.guardian, in: family.id)
            try await server.expectOnly(audit: ["nag.create.denied"]) {
                try await server.expect(.refusal(.policyForbidden)) {
                    try await server.call(API.createNag, order, as: family.participant)
                }
            }
            #expect(try await server.audit(family.id).last?.details == ["reason": "blocked"])
            try await server.call(
                API.updateBlock, BlockPath(blockID: block.id), BlockUpdate(state: .lifted), as: blocker)
            _ = try await server.call(API.createNag, order, as: family.participant)
        }
    }

    @Test("two people whose relationship is suspended cannot nag each other", arguments: ["suspended", "revoked"])
    func relationships(status: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (one, other) = (family.participant.id, family.child.id)
            try await server.sql(
                """
                UPDATE relationships SET status = \(status) WHERE \(one) IN (party_a, party_b)
                    AND \(other) IN (party_a, party_b)
                """)
            try await server.expectOnly(audit: ["nag.create.denied"]) {
                try await server.expect(.refusal(.policyForbidden)) {
                    try await server.nag(from: family.participant, to: family.child)
                }
            }
            _ = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.nag(from: family.participant, to: family.participant)
        }
    }

    // MARK: The daily cap

    @Test("the ninth nag of a local day is refused, and the next day in the family's zone counts anew")
    func cap() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            // 23:30 in New York is the next day in UTC already.
            server.clock.set(to: ManualClock.start + .minutes(12 * 60 + 30))
            for _ in 0..<8 { _ = try await server.nag(from: family.participant, to: family.child) }
            let error = try await server.expectOnly(audit: ["nag.create.denied"]) {
                try await refusal { try await server.nag(from: family.participant, to: family.child) }
            }
            #expect(error.code == .policyForbidden && error.message.contains("8"))
            // Others have a cap of their own.
            _ = try await server.nag(from: family.guardian, to: family.child)
            server.clock.advance(by: .minutes(29))
            try await server.expect(.refusal(.policyForbidden)) {
                try await server.nag(from: family.participant, to: family.child)
            }
            server.clock.advance(by: .minutes(1))
            _ = try await server.nag(from: family.participant, to: family.child)
        }
    }

    @Test("a family's own daily cap counts withdrawn nags, and not those that a series creates")
    func lowerCap() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.sql("UPDATE policies SET daily_cap = 2 WHERE family_id = \(family.id)")
            let first = try await server.nag(from: family.guardian, to: family.child, every: .daily)
            _ = try await server.complete(first.id, as: family.child)
            let second = try await server.nag(from: family.guardian, to: family.child)
            try await server.call(API.withdrawNag, NagPath(nagID: second.id), as: family.guardian)
            let error = try await refusal { try await server.nag(from: family.guardian, to: family.child) }
            #expect(error.code == .policyForbidden && error.message.contains("2"))
        }
    }

    @Test("of fifty nags at once eight are created and forty-two refused")
    func concurrentCap() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let outcomes = try await together(outcomesOf: 50) { _ in
                try await server.nag(from: family.guardian, to: family.child)
            }
            #expect(outcomes.filter { (try? $0.get()) != nil }.count == 8)
            let refused = outcomes.compactMap { outcome -> APIError? in
                if case .failure(let error) = outcome { error } else { nil }
            }
            #expect(refused.count == 42 && refused.allSatisfy { $0.code == .policyForbidden })
            #expect(try await server.rows("SELECT id FROM nags").count == 8)
        }
    }

    @Test("a creation that is repeated with its Idempotency-Key gives the same nag")
    func once() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let order = server.order(for: family.child, in: family.id)
            let headers = ["Idempotency-Key": "a"]
            let nag = try await server.call(API.createNag, order, as: family.guardian, headers: headers)
            let again = try await server.expectOnly {
                try await server.call(API.createNag, order, as: family.guardian, headers: headers)
            }
            #expect(again == nag)
        }
    }
}

/// Who may do what in the group `nags`.
extension MatrixRow {
    static let nags: [MatrixRow] = [
        MatrixRow(API.createNag, allowed: .adults) { scene in
            (
                NoParameters(),
                NagCreate(
                    familyID: scene.family.id, recipientID: scene.family.child.id, dueAt: ManualClock.start + .hours(5),
                    category: .chores, doneDefinition: .acknowledgeOnly)
            )
        },
        MatrixRow(API.listNags, allowed: .members) { (NagListQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.getNag, "a participant's", allowed: .readers) { (nag($0), NoBody()) },
        MatrixRow(API.getNag, "a child's", allowed: .readersOfChild) { (NagPath(nagID: $0.childNag), NoBody()) },
        MatrixRow(API.updateNag, "its category", allowed: .guardians.union([.creator])) {
            (nag($0), NagUpdate(category: .homework))
        },
        MatrixRow(API.updateNag, "its time only", allowed: .readers) {
            (nag($0), NagUpdate(dueAt: ManualClock.start + .minutes(130)))
        },
        MatrixRow(API.updateNag, "the promised time", allowed: [.recipient]) {
            (nag($0), NagUpdate(committedAt: .value(ManualClock.start + .minutes(130))))
        },
        MatrixRow(API.updateNagStatus, "a participant's", allowed: [.recipient]) {
            (nag($0), NagStatusUpdate(status: .completed))
        },
        MatrixRow(API.updateNagStatus, "a child's", allowed: [.child]) {
            (NagPath(nagID: $0.childNag), NagStatusUpdate(status: .completed))
        },
        MatrixRow(API.withdrawNag, allowed: [.creator]) { (nag($0), NoBody()) },
        MatrixRow(API.dismissNag, allowed: [.recipient]) { (nag($0), NoBody()) },
        MatrixRow(API.undismissNag, allowed: [.recipient]) { (nag($0), NoBody()) },
        MatrixRow(API.submitExcuse, "a participant's", allowed: [.recipient]) {
            (nag($0), ExcuseCreate(text: "I forgot"))
        },
        MatrixRow(API.submitExcuse, "a child's", allowed: [.child]) {
            (NagPath(nagID: $0.childNag), ExcuseCreate(text: "I forgot"))
        },
        MatrixRow(API.listExcuses, allowed: .readers) { (ExcuseListQuery(nagID: $0.nag), NoBody()) },
        MatrixRow(API.getEscalation, "a participant's", allowed: .readers) { (nag($0), NoBody()) },
        MatrixRow(API.getEscalation, "a child's", allowed: .readersOfChild) {
            (NagPath(nagID: $0.childNag), NoBody())
        },
        MatrixRow(API.recomputeEscalation, "a participant's", allowed: .readers) { (nag($0), NoBody()) },
        MatrixRow(API.recomputeEscalation, "a child's", allowed: .readersOfChild) {
            (NagPath(nagID: $0.childNag), NoBody())
        },
    ]
}
