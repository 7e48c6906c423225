import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Pictures of nags")
struct NagAttachmentTests {
    @Test("a nag shows its pictures in the order given, on every way of reading it")
    func shown() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let ids = [
                try await server.upload(as: family.guardian).id, try await server.upload(as: family.guardian).id,
            ]
            let order: [AttachmentID] = ids.reversed()
            let nag = try await server.expectOnly(audit: ["nag.created"], events: ["nag_created"]) {
                try await server.nag(from: family.guardian, to: family.child, with: order)
            }
            #expect(nag.attachmentURLs == order.map(AttachmentURL.init))
            #expect(try await server.audit(family.id).last?.details["attachments"] == "2")
            #expect(try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child) == nag)
            let plain = try await server.nag(from: family.guardian, to: family.child)
            let list = try await server.call(API.listNags, NagListQuery(), as: family.child)
            #expect(list.items.first { $0.id == nag.id } == nag)
            #expect(list.items.first { $0.id == plain.id }?.attachmentURLs == [])
            #expect(try await server.complete(nag.id, as: family.child).attachmentURLs == nag.attachmentURLs)
        }
    }

    @Test("the next nag of a series has no pictures")
    func series() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.upload(as: family.guardian).id
            let nag = try await server.nag(from: family.guardian, to: family.child, with: [id], every: .daily)
            _ = try await server.complete(nag.id, as: family.child)
            let list = try await server.call(API.listNags, NagListQuery(status: .open), as: family.child)
            #expect(list.items.map(\.parentNagID) == [nag.id] && list.items.map(\.attachmentURLs) == [[]])
        }
    }

    @Test("a picture is readable by its uploader and whoever may read its nag, and by nobody else")
    func readers() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let other = try await server.member("Ann", .participant, of: family)
            let id = try await server.upload(as: family.participant).id
            let unknown: AttachmentID = server.random.identifier(at: server.clock.now())
            // Before a nag uses it, it is the uploader's alone.
            #expect(try await server.picture(id, as: family.participant).status == 200)
            for person in [family.guardian, family.child, other, family.stranger, family.removed] {
                #expect(try await server.picture(id, as: person).status == 404)
            }
            _ = try await server.nag(from: family.participant, to: family.child, with: [id])
            for person in [family.participant, family.child, family.guardian, family.secondGuardian] {
                #expect(try await server.picture(id, as: person).status == 200)
            }
            for person in [other, family.stranger, family.removed, try await server.account()] {
                let reply = try await server.picture(id, as: person)
                let absent = try await server.picture(unknown, as: person)
                #expect(reply.status == 404 && absent.status == 404)
                #expect(reply.json?["error"]?["message"] == absent.json?["error"]?["message"])
            }
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: family.child.id), as: family.guardian)
            #expect(try await server.picture(id, as: family.child).status != 200)
            // The uploader keeps reading their own, whatever family they are in.
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: family.participant.id), as: family.guardian)
            #expect(try await server.picture(id, as: family.participant).status == 200)
            #expect(try await server.picture(id, as: family.secondGuardian).status == 200)
        }
    }

    @Test("a picture of a connection's nag is readable by its two people and the recipient child's guardians")
    func readersOverConnection() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let family = scene.family
            let id = try await server.upload(as: scene.friend).id
            for person in [scene.parent, family.child] {
                #expect(try await server.picture(id, as: person).status == 404)
            }
            var order = scene.order(for: family.child)
            order.attachmentIDs = [id]
            let nag = try await server.call(API.createNag, order, as: scene.friend)
            #expect(nag.attachmentURLs == [AttachmentURL(id)])
            #expect(try await scene.get(nag, as: family.child).attachmentURLs == [AttachmentURL(id)])
            for person in [scene.friend, family.child, scene.parent, family.secondGuardian] {
                #expect(try await server.picture(id, as: person).status == 200)
            }
            for person in [family.participant, family.removed, try await server.account()] {
                #expect(try await server.picture(id, as: person).status == 404)
            }
            // Taken by this nag, it is no other one's.
            try await expectRefusal(422) { try await server.call(API.createNag, order, as: scene.friend) }
        }
    }

    @Test("unknown, another's, expired, used, too many and doubled uploads are refused for a nag")
    func notUsable() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (guardian, child) = (family.guardian, family.child)
            let unknown: AttachmentID = server.random.identifier(at: server.clock.now())
            let others = try await server.upload(as: family.participant).id
            let stolen = try await server.upload(as: family.stranger).id
            let expired = try await server.upload(as: guardian).id
            server.clock.advance(by: .hours(24))
            let guardianNow = try await server.anotherSession(of: guardian)
            let own = try await server.upload(as: guardianNow).id
            let used = try await server.upload(as: guardianNow).id
            _ = try await server.nag(from: guardianNow, to: child, with: [used])
            try await server.expectOnly {
                for ids in [
                    [unknown], [others], [stolen], [expired], [used], [own, own], [own, unknown], [own, used],
                    Array(repeating: own, count: 9),
                ] {
                    let error = try await expectRefusal(422) {
                        try await server.nag(from: guardianNow, to: child, with: ids)
                    }
                    #expect(error.field == "attachment_ids")
                }
                let body = order(server, for: child, in: family, attachments: ["no id"])
                let reply = try await server.call("POST", "/api/v1/nags", as: guardianNow, body: body)
                #expect(reply.status == 422)
            }
            for attachments: JSONValue? in [nil, .null, [], [.string(own.wireText.uppercased())]] {
                let body = order(server, for: child, in: family, attachments: attachments)
                let reply = try await server.call("POST", "/api/v1/nags", as: guardianNow, body: body)
                #expect(reply.status == 201)
            }
        }
    }

    private func order(
        _ server: TestServer, for recipient: TestPerson, in family: Household, attachments: JSONValue?
    ) -> JSONValue {
        var order: JSONObject = [
            "family_id": .string(family.id.wireText), "recipient_id": .string(recipient.id.wireText),
            "due_at": .string((server.clock.now() + .hours(1)).rfc3339), "category": "chores",
            "done_definition": "ack_only",
        ]
        if let attachments { order["attachment_ids"] = attachments }
        return .object(order)
    }

    @Test("of several nags at once with the same upload, one is created")
    func atOnce() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.upload(as: family.guardian).id
            let outcomes = try await together(outcomesOf: 6) { _ in
                try await server.nag(from: family.guardian, to: family.child, with: [id])
            }
            #expect(outcomes.count { (try? $0.get()) != nil } == 1)
            #expect(
                outcomes.compactMap { if case .failure(let error) = $0 { error.status } else { nil } }
                    == Array(repeating: 422, count: 5))
            #expect(try await server.rows("SELECT id FROM nags").count == 1)
        }
    }

    @Test("an upload that another nag has taken since it was looked at is refused by the database")
    func taken() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.upload(as: family.guardian).id
            _ = try await server.nag(from: family.guardian, to: family.child, with: [id])
            // As a nag of another family would find it that looked before.
            try await server.sql("UPDATE attachments SET is_used = false WHERE id = \(id)")
            try await server.expectOnly {
                try await expectRefusal(422) {
                    try await server.nag(from: family.guardian, to: family.child, with: [id])
                }
            }
        }
    }

    @Test("a picture is answered with an ETag, ranges and header fields that keep it from running scripts")
    func fields() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let bytes = PictureForm.jpeg(1_000, comment: nil)
            let id = try await server.upload(bytes, as: family.guardian).id
            let reply = try await server.picture(id, as: family.guardian)
            let tag = try #require(reply.header("etag"))
            #expect(tag.hasPrefix("\"") && tag.utf8.count == 66)
            #expect(reply.header("x-content-type-options") == "nosniff")
            #expect(reply.header("content-security-policy") == "default-src 'none'; sandbox")
            #expect(reply.header("cache-control") == "private, no-cache")
            #expect(reply.header("accept-ranges") == "bytes" && reply.header("content-encoding") == nil)
            for value in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let same = try await server.picture(id, as: family.guardian, ["If-None-Match": value])
                #expect(same.status == 304 && same.body.isEmpty && same.header("etag") == tag)
            }
            #expect(try await server.picture(id, as: family.guardian, ["If-None-Match": "\"x\""]).status == 200)
            // Whoever may not read it learns nothing from a tag.
            #expect(try await server.picture(id, as: family.child, ["If-None-Match": tag]).status == 404)
            let head = try await server.call(
                "HEAD", "/api/v1/attachments/\(id.wireText)", as: family.guardian, headers: ["Accept-Encoding": "gzip"])
            #expect(head.status == 200 && head.header("content-length") == "\(bytes.count)")
        }
    }

    @Test(
        "a picture is answered whole or in the requested range, or with 416",
        arguments: [
            ("bytes=0-0", 206, 0..<1), ("bytes=10-19", 206, 10..<20), ("bytes=1000-", 206, 1_000..<1_031),
            ("bytes=-1", 206, 1_030..<1_031), ("bytes=-99999", 206, 0..<1_031),
            ("bytes=0-99999999999999999999999", 206, 0..<1_031),
            ("Bytes=5-5", 206, 5..<6), ("bytes=1031-", 416, 0..<0), ("bytes=99999999999999999999999-", 416, 0..<0),
            ("bytes=-0", 416, 0..<0), ("bytes=9-8", 200, 0..<1_031), ("bytes=0-1,5-6", 200, 0..<1_031),
            ("bytes=+1-2", 200, 0..<1_031), ("bytes=-", 200, 0..<1_031), ("bytes=a-b", 200, 0..<1_031),
            ("items=0-1", 200, 0..<1_031), ("bytes= 1-2", 200, 0..<1_031),
        ])
    func ranges(_ field: String, _ status: Int, _ range: Range<Int>) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let bytes = PictureForm.jpeg(1_004, comment: nil)
            #expect(bytes.count == 1_031)
            let id = try await server.upload(bytes, as: family.guardian).id
            let reply = try await server.picture(id, as: family.guardian, ["Range": field])
            #expect(reply.status == status)
            switch status {
            case 206:
                #expect(reply.body == Array(bytes[range]))
                #expect(
                    reply.header("content-range") == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)")
            case 416: #expect(reply.header("content-range") == "bytes */\(bytes.count)")
            default: #expect(reply.body == bytes && reply.header("content-range") == nil)
            }
            let stale = try await server.picture(
                id, as: family.guardian, ["Range": field, "If-Range": "\"another\""])
            #expect(stale.status == 200 && stale.body == bytes)
        }
    }

    @Test("unused uploads are deleted after 25 hours, used ones two years after their nag has ended")
    func retention() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let unused = try await server.upload(as: family.guardian).id
            let used = try await server.upload(as: family.guardian).id
            let open = try await server.upload(as: family.guardian).id
            let nag = try await server.nag(from: family.guardian, to: family.child, with: [used])
            _ = try await server.nag(from: family.guardian, to: family.child, with: [open])
            try await server.call(API.withdrawNag, NagPath(nagID: nag.id), as: family.guardian)
            func left() async throws -> Set<AttachmentID> {
                let now = server.clock.now()
                return Set(
                    try await server.database.run { database in
                        _ = try await Housekeeping.applyRetention(database, at: now)
                        return try await database.query("SELECT id FROM attachments").map {
                            row throws(PostgresError) -> AttachmentID in try row["id"]
                        }
                    })
            }
            let start = server.clock.now()
            server.clock.set(to: start + .hours(25) - .seconds(1))
            #expect(try await left() == [unused, used, open])
            server.clock.set(to: start + .hours(25) + .seconds(1))
            #expect(try await left() == [used, open])
            server.clock.set(to: start + Retention.twoYears + .days(1))
            #expect(try await left() == [open])
            let rows = try await server.rows("SELECT attachment_id FROM nag_attachments")
            #expect(rows == [["attachment_id": .string(open.wireText)]])
            let list = try await server.call(
                API.listNags, NagListQuery(), as: try await server.anotherSession(of: family.guardian))
            #expect(list.items.first { $0.id == nag.id }?.attachmentURLs == [])
        }
    }

    @Test("a person's uploads are in their export, and are deleted when their account is purged")
    func account() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let own = try await server.upload(as: family.participant)
            let other = try await server.upload(as: family.guardian).id
            let nag = try await server.nag(from: family.participant, to: family.child, with: [own.id])
            let export = try await server.call(API.exportAccount, as: family.participant)
            let found = try #require(export.sections[.attachments])
            #expect(found.count == 1)
            #expect(found[0]["url"] == .string(own.url.wireText) && found[0]["nag_id"] == .string(nag.id.wireText))
            #expect(found[0]["bytes"] == nil)
            try await server.call(API.deleteAccount, AccountPath(userID: family.participant.id), as: family.participant)
            #expect(try await server.picture(own.id, as: family.participant).status == 401)
            #expect(try await server.picture(own.id, as: family.guardian).status == 200)
            server.clock.advance(by: .days(Int64(AccountPurge.standardDays)))
            let (clock, random) = (server.clock, server.random)
            _ = try await server.database.run { database in
                let ledger = Ledger(
                    database: database, random: random, sealing: Sealing(TestServer.auditKeyring, random: random))
                return try await AccountPurge(database: database, ledger: ledger, days: AccountPurge.standardDays).run(
                    SystemActor.commandLine
                ) { CallContext(systemActAt: clock.now(), random) }
            }
            let rows = try await server.rows("SELECT id FROM attachments")
            #expect(rows == [["id": .string(other.wireText)]])
            let guardian = try await server.anotherSession(of: family.guardian)
            #expect(try await server.picture(own.id, as: guardian).status == 404)
            let shown = try await server.call(API.getNag, NagPath(nagID: nag.id), as: guardian)
            #expect(shown.attachmentURLs == [])
        }
    }
}
