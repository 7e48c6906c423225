import Audit
import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Realtime: connections")
struct RealtimeConnectionTests {
    private static func kind(_ event: JSONValue) -> String? { event["event"]?.stringValue }

    @Test("invitations and acceptances reach the two people's sockets alone, under their own family's id")
    func connections() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.withPeers(1) { peers in
                let inviter = try await peers[0].socket(family.guardian)
                let invitee = try await server.socket(family.stranger)
                let others = [
                    try await server.socket(family.secondGuardian), try await peers[0].socket(family.child),
                    try await server.socket(family.participant),
                ]
                let sent = try await server.invite(family.stranger, as: family.guardian)
                for (socket, own) in [(inviter, family.id), (invitee, family.otherFamilyID)] {
                    let event = try await socket.event()
                    #expect(Self.kind(event) == "connection_invited")
                    #expect(event["family_id"]?.stringValue == own.description)
                    #expect(event["actor_id"]?.stringValue == family.guardian.id.description)
                    #expect(event["data"]?.objectValue?.members.isEmpty == true)
                }
                try await peers[0].accept(sent, as: family.stranger)
                for socket in [inviter, invitee] {
                    let event = try await socket.event()
                    #expect(Self.kind(event) == "connection_accepted")
                    #expect(event["actor_id"]?.stringValue == family.stranger.id.description)
                }
                for socket in others { #expect(try await socket.eventsBeforePong().isEmpty) }
            }
        }
    }

    @Test("a connection nag's events and its end reach those who may read it, and nobody else")
    func nags() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let family = scene.family
            // What was told before the sockets came.
            server.clock.advance(by: .minutes(1))
            let readers = [
                (try await server.socket(scene.friend), family.otherFamilyID),
                (try await server.socket(scene.parent), family.id),
                (try await server.socket(family.secondGuardian), family.id),
                (try await server.socket(family.child), family.id),
            ]
            let participant = try await server.socket(family.participant)
            let nag = try await scene.nag(from: scene.friend, to: family.child)
            func expect(_ kind: String, _ actor: TestPerson) async throws {
                for (socket, own) in readers {
                    let event = try await socket.event()
                    #expect(Self.kind(event) == kind && event["family_id"]?.stringValue == own.description, "\(event)")
                    #expect(event["actor_id"]?.stringValue == actor.id.description)
                }
            }
            try await expect("nag_created", scene.friend)
            try await server.call(
                API.submitExcuse, NagPath(nagID: nag.id), ExcuseCreate(text: "I forgot"), as: family.child)
            try await expect("excuse_submitted", family.child)
            _ = try await server.complete(nag.id, as: family.child)
            try await expect("nag_status_changed", family.child)
            _ = try await scene.nag(from: scene.friend, to: family.child)
            try await expect("nag_created", scene.friend)
            try await server.revoke(scene.connection, as: scene.parent)
            try await expect("nag_status_changed", scene.parent)
            // The first thing the participant hears is a nag of their own.
            let own = try await server.nag(from: family.guardian, to: family.participant)
            let event = try await participant.event()
            #expect(event["data"]?["nag_id"]?.stringValue == own.id.description)
            #expect(try await participant.eventsBeforePong().isEmpty)
        }
    }

    @Test(
        "another process's act on a connection, which notifies nobody, is found by the sweep",
        arguments: [false, true])
    func swept(forGuardian: Bool) async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            server.clock.advance(by: .minutes(1))
            let socket = try await server.socket(forGuardian ? scene.family.secondGuardian : scene.family.child)
            let (random, context, chain) = (server.random, server.context, scene.chain)
            let nag: NagID = random.identifier(at: server.clock.now())
            let statement: SQL = """
                INSERT INTO nags (family_id, connection_id, id, creator_id, recipient_id, due_at, category, done_definition,
                                  status, created_at, cycle_started_at, sync_seq, sync_ts)
                SELECT family_id, family_id, \(nag), \(scene.friend.id), \(scene.family.child.id), ts, 'other', 'ack_only',
                       'open', ts, ts, seq, ts FROM ledger_stamp
                """
            try await server.database.run { database in
                let act = Act(
                    kind: .nagCreated, basis: .nothing, actor: SystemActor.mediator, resource: nag.retyped(),
                    statements: [statement])
                let _: StatusAnswer = try await Ledger(database: database, random: random)
                    .write(context, in: chain) { _ in .perform(act, StatusAnswer(status: "ok")) }
            }
            let event = try await socket.event()
            #expect(event["data"]?["nag_id"]?.stringValue == nag.description && event["actor_id"] == .null)
        }
    }

    @Test("somebody who has left the child's family gets no more events of its connection nags")
    func departed() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let family = scene.family
            server.clock.advance(by: .minutes(1))
            let former = try await server.socket(family.secondGuardian)
            let parent = try await server.socket(scene.parent)
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: family.secondGuardian.id), as: scene.parent)
            _ = try await scene.nag(from: scene.friend, to: family.child)
            // Those of a family and of a connection come in no order.
            let kinds = Set([Self.kind(try await parent.event()), Self.kind(try await parent.event())])
            #expect(kinds == ["member_removed", "nag_created"])
            #expect(try await former.closeCode() == 4001)
        }
    }
}
