import Contract
import Domain
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Reading nags")
struct ReadNagTests {
    static let readers: [(Who, Expected)] = [
        (.guardian, .success), (.secondGuardian, .success), (.child, .success), (.participant, .success),
        (.removed, .refusal(.notFound)), (.stranger, .refusal(.notFound)),
    ]

    @Test("creator, recipient and guardians read a nag", arguments: readers)
    func readable(_ who: Who, _ expected: Expected) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            try await server.expectOnly {
                try await server.expect(expected) {
                    try await server.call(API.getNag, NagPath(nagID: nag.id), as: who(family))
                }
            }
        }
    }

    @Test("another member is refused a nag, with an audit entry")
    func notVisible() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.expectOnly(audit: ["nag.read.denied"]) {
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.participant)
                }
            }
            #expect(try await server.audit(family.id).last?.details == ["reason": "not_visible"])
            let none: NagID = server.random.identifier(at: server.clock.now())
            try await server.expectOnly {
                try await server.expect(.refusal(.notFound)) {
                    try await server.call(API.getNag, NagPath(nagID: none), as: family.guardian)
                }
            }
        }
    }

    @Test("an ended session and a pending account read, list and create no nags")
    func refusedSessions() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let waiting = try await server.account("Wendy", status: "pending_guardian_consent")
            try await server.sql("UPDATE sessions SET revoked_at = now() WHERE user_id = \(family.child.id)")
            try await server.expectOnly {
                for (person, code) in [(waiting, ErrorCode.authorizationDenied), (family.child, .authenticationFailed)]
                {
                    try await server.expect(.refusal(code)) {
                        try await server.call(API.getNag, NagPath(nagID: nag.id), as: person)
                    }
                    try await server.expect(.refusal(code)) {
                        try await server.call(API.listNags, NagListQuery(), as: person)
                    }
                    let order = server.order(for: family.guardian, in: family.id)
                    try await server.expect(.refusal(code)) {
                        try await server.call(API.createNag, order, as: person)
                    }
                }
                let reply = try await server.call("GET", "/api/v1/nags/\(nag.id)")
                #expect(reply.status == 401)
            }
        }
    }

    @Test("guardians list all nags of the family, others those they made or received, and nobody another family's")
    func visibility() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let toChild = try await server.nag(from: family.guardian, to: family.child)
            server.clock.advance(by: .seconds(1))
            let byParticipant = try await server.nag(from: family.participant, to: family.child)
            server.clock.advance(by: .seconds(1))
            let among = try await server.nag(from: family.guardian, to: family.secondGuardian)
            func list(_ person: TestPerson, _ query: NagListQuery = NagListQuery()) async throws -> [NagID] {
                let page = try await server.call(API.listNags, query, as: person)
                #expect(page.total == page.items.count)
                return page.items.map(\.id)
            }
            #expect(try await list(family.guardian) == [among.id, byParticipant.id, toChild.id])
            #expect(try await list(family.secondGuardian, NagListQuery(familyID: family.id)).count == 3)
            #expect(try await list(family.participant) == [byParticipant.id])
            #expect(try await list(family.child) == [byParticipant.id, toChild.id])
            #expect(try await list(family.stranger).isEmpty)
            #expect(try await list(family.removed).isEmpty)
            let connection: ConnectionID = server.random.identifier(at: server.clock.now())
            #expect(try await list(family.guardian, NagListQuery(connectionID: connection)).isEmpty)
            try await server.expect(.refusal(.authorizationDenied)) {
                try await list(family.guardian, NagListQuery(familyID: family.otherFamilyID))
            }
        }
    }

    @Test("nags are listed open ones first, then the newest, in exact pages and by filters")
    func pages() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            var made: [NagID] = []
            for number in 0..<7 {
                // Three share a moment: their ids decide.
                if number < 4 { server.clock.advance(by: .seconds(1)) }
                let recipient = number == 0 ? family.participant : family.child
                made.append(try await server.nag(from: family.guardian, to: recipient).id)
            }
            _ = try await server.complete(made[6], as: family.child)
            _ = try await server.complete(made[1], as: family.child)
            let order = [5, 4, 3].map { made[$0] }.sorted(by: >) + [made[2], made[0], made[6], made[1]]
            var paged: [NagID] = []
            for offset in stride(from: 0, to: 9, by: 3) {
                let query = NagListQuery(page: PageRequest(limit: 3, offset: offset))
                let page = try await server.call(API.listNags, query, as: family.guardian)
                #expect(page.total == 7 && page.limit == 3 && page.offset == offset)
                paged += page.items.map(\.id)
            }
            #expect(paged == order)
            let past = try await server.call(
                API.listNags, NagListQuery(page: PageRequest(offset: 100)), as: family.guardian)
            #expect(past.items.isEmpty && past.total == 7 && past.limit == 200)
            let done = try await server.call(API.listNags, NagListQuery(status: .completed), as: family.guardian)
            #expect(done.items.map(\.id) == [made[6], made[1]] && done.total == 2)

            try await server.call(API.dismissNag, NagPath(nagID: made[2]), as: family.child)
            let inSight = NagListQuery(excludeDismissed: true)
            let child = try await server.call(API.listNags, inSight, as: family.child)
            #expect(child.total == 5 && !child.items.contains { $0.id == made[2] })
            // It is the recipient's own sight.
            #expect(try await server.call(API.listNags, inSight, as: family.guardian).total == 7)
            let homework = try await server.nag(from: family.guardian, to: family.child, .homework)
            let ofHomework = NagListQuery(status: .open, category: .homework)
            let found = try await server.call(API.listNags, ofHomework, as: family.guardian)
            #expect(found.items.map(\.id) == [homework.id] && found.total == 1)
            #expect(try await server.call(API.listNags, ofHomework, as: family.participant).total == 0)
            let reply = try await server.call("GET", "/api/v1/nags?state=late", as: family.guardian)
            #expect(reply.status == 422)
        }
    }
}
