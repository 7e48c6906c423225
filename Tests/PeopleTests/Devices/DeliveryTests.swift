import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Deliveries of a nag")
struct DeliveryTests {
    /// Stores deliveries as a nag's escalation does, and returns their ids, the newest first.
    private static func insert(
        _ statuses: [DeliveryStatus], of nag: NagID, to person: TestPerson, in family: FamilyID, on server: TestServer
    ) async throws -> [DeliveryID] {
        var made: [DeliveryID] = []
        for status in statuses {
            server.clock.advance(by: .seconds(1))
            let now = server.clock.now()
            let id: DeliveryID = server.random.identifier(at: now)
            let event: EventID = server.random.identifier(at: now)
            let reference = status == .pending ? nil : "ref"
            try await server.sql(
                """
                INSERT INTO deliveries
                    (family_id, id, nag_id, nag_event_id, user_id, channel, status, provider_ref, created_at)
                VALUES (\(family), \(id), \(nag), \(event), \(person.id), 'push', \(status.rawValue), \(reference), \(now))
                """)
            made.insert(id, at: 0)
        }
        return made
    }

    private static func list(
        _ nag: NagID, _ page: PageRequest = PageRequest(), as person: TestPerson, on server: TestServer
    ) async throws -> Page<DeliveryResponse> {
        try await server.call(API.listDeliveries, DeliveryListQuery(nagID: nag, page: page), as: person)
    }

    @Test("creator and guardians list a nag's deliveries, newest first, in pages")
    func list() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child).id
            let other = try await server.nag(from: family.guardian, to: family.child).id
            let made = try await Self.insert(
                [.failed, .delivered, .sent, .pending], of: nag, to: family.child, in: family.id, on: server)
            // Nobody needed one of them any more: administrators alone see it.
            let dropped = try await Self.insert([.failed], of: nag, to: family.child, in: family.id, on: server)
            try await server.sql("UPDATE deliveries SET dropped = true, failure = 'stale' WHERE id = \(dropped[0])")
            _ = try await Self.insert([.sent], of: other, to: family.child, in: family.id, on: server)
            try await server.expectOnly {
                for person in [family.participant, family.guardian, family.secondGuardian] {
                    let page = try await Self.list(nag, as: person, on: server)
                    #expect(page.items.map(\.id) == made && page.total == 4)
                    #expect(page.items.map(\.status) == [.pending, .sent, .delivered, .failed])
                    #expect(page.items.map(\.providerRef) == [nil, "ref", "ref", "ref"])
                    #expect(page.items.allSatisfy { $0.channel == .push })
                }
                let page = try await Self.list(nag, PageRequest(limit: 1, offset: 1), as: family.guardian, on: server)
                #expect(page.items.map(\.id) == [made[1]] && page.total == 4 && page.limit == 1)
                let past = try await Self.list(nag, PageRequest(offset: 9), as: family.guardian, on: server)
                #expect(past.items.isEmpty && past.total == 4)
            }
            let failed = try await server.call(
                API.listDeliveryReviews, DeliveryReviewQuery(status: .failed), as: server.admin())
            #expect(failed.items.map(\.failure) == ["stale", nil] && failed.items.map(\.isDropped) == [true, false])
        }
    }

    @Test("recipient and other members are refused a nag's deliveries, and for other families it is 404")
    func refused() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let other = try await server.member("Olga", .participant, of: family)
            let nag = try await server.nag(from: family.participant, to: family.child).id
            for person in [family.child, other] {
                try await server.expectOnly(audit: ["nag.read_deliveries.denied"]) {
                    try await server.expect(.refusal(.authorizationDenied)) {
                        try await Self.list(nag, as: person, on: server)
                    }
                }
            }
            try await server.expectOnly {
                for person in [family.stranger, family.removed] {
                    try await server.expect(.refusal(.notFound)) { try await Self.list(nag, as: person, on: server) }
                }
                let unknown = server.random.identifier(at: server.clock.now()) as NagID
                try await server.expect(.refusal(.notFound)) {
                    try await Self.list(unknown, as: family.guardian, on: server)
                }
                let reply = try await server.call("GET", "/api/v1/deliveries", as: family.guardian)
                #expect(reply.status == 422)
            }
            // Whoever nags themself is the creator.
            let own = try await server.nag(from: family.participant, to: family.participant).id
            #expect(try await Self.list(own, as: family.participant, on: server).total == 0)
        }
    }

    @Test("a page of deliveries uses the index of the nag")
    func plan() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            try await server.sql(
                """
                INSERT INTO deliveries (family_id, id, nag_id, nag_event_id, user_id, channel, status, created_at)
                SELECT md5((i % 10)::text)::uuid, md5(i::text)::uuid, md5((i % 500)::text)::uuid, md5(i::text)::uuid,
                       md5('u')::uuid, 'push', 'sent', now()
                FROM generate_series(0, 19999) i
                """)
            try await server.sql("VACUUM ANALYZE deliveries")
            let plans = try await server.database.run { database in
                try await database.transaction { transaction in
                    let planned = PlannedQueries(transaction, analyzes: false)
                    let (nag, family) = (NagID(high: 0, low: 1), FamilyID(high: 0, low: 2))
                    _ = try await planned.query(DeliveryStatements.page(PageRequest(), of: nag, in: family))
                    return planned.plans.map(\.text)
                }
            }
            for plan in plans {
                #expect(plan.contains("deliveries_of_nag") && !plan.contains("Seq Scan on deliveries"), "\(plan)")
            }
        }
    }
}

/// Who may do what in the group `deliveries`.
extension MatrixRow {
    static let deliveries: [MatrixRow] = [
        MatrixRow(API.listDeliveries, allowed: .guardians.union([.creator])) {
            (DeliveryListQuery(nagID: $0.nag), NoBody())
        },
        MatrixRow(API.listDeliveryReviews, allowed: [.administrator], refusals: [403]) { _ in
            (DeliveryReviewQuery(), NoBody())
        },
        MatrixRow(API.resendDelivery, allowed: [.administrator], refusals: [403]) {
            (DeliveryPath(deliveryID: $0.delivery), NoBody())
        },
    ]
}
