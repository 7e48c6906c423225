import Contract
import Domain
import HTTP
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Uploading pictures")
struct UploadAttachmentTests {
    @Test("an upload keeps the picture without its metadata, by content and not by label")
    func keeps() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let jpeg = try await server.expectOnly(audit: ["attachment.added"]) {
                try await server.upload(PictureForm.jpeg(), as: family.participant)
            }
            let plain = PictureForm.jpeg(comment: nil)
            #expect(jpeg.filename == "image.jpg" && jpeg.contentType == "image/jpeg" && jpeg.size == plain.count)
            #expect(jpeg.url.wireText == "/attachments/\(jpeg.id.wireText)")
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.details == ["content_type": "image/jpeg", "size": "\(plain.count)"])
            #expect(entry.resource == jpeg.id.retyped())
            let read = try await server.picture(jpeg.id, as: family.participant)
            #expect(read.status == 200 && read.body == plain)

            let page = "<html><script>alert(1)</script></html>"
            let png = try await server.upload(PictureForm.png(text: page), as: family.participant)
            #expect(png.contentType == "image/png")
            let shown = try await server.picture(png.id, as: family.participant)
            #expect(!shown.text.contains("script") && shown.header("content-type") == "image/png")
        }
    }

    @Test("a person without a family uploads too, with an entry on the chain outside families")
    func withoutFamily() async throws {
        try await TestServer.run { server in
            let nell = try await server.account()
            let attachment = try await server.expectOnly(audit: ["attachment.added"]) {
                try await server.upload(as: nell)
            }
            #expect(try await server.audit(.outside).last?.kind == "attachment.added")
            #expect(try await server.picture(attachment.id, as: nell).status == 200)
        }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let name: String
        let status: Int
        let content: [UInt8]
        var contentType = PictureForm.contentType
        var testDescription: String { name }
    }

    private static let form = PictureForm.self
    static let refused: [Refused] = [
        Refused(name: "no form", status: 400, content: Array("{}".utf8), contentType: "application/json"),
        Refused(name: "no boundary", status: 400, content: form.form(form.jpeg()), contentType: "multipart/form-data"),
        Refused(
            name: "another boundary", status: 400, content: form.form(form.jpeg()),
            contentType: "multipart/form-data; boundary=b"),
        Refused(name: "no end", status: 400, content: form.part(form.jpeg())),
        Refused(
            name: "a nested form", status: 400,
            content: form.form(form.form(form.jpeg()), fields: "Content-Type: multipart/mixed; boundary=x\r\n")),
        Refused(name: "a form in the part", status: 422, content: form.part(form.part(form.jpeg())) + form.end),
        Refused(
            name: "1,000 parts", status: 413,
            content: Array(repeating: form.part([1]), count: 1_000).flatMap(\.self) + form.end),
        Refused(name: "two files", status: 422, content: form.part(form.jpeg()) + form.form(form.jpeg())),
        Refused(name: "another name", status: 422, content: form.form(form.jpeg(), name: "picture")),
        Refused(name: "no part", status: 422, content: form.end),
        Refused(
            name: "a part that is longer than it says", status: 400,
            content: form.form(form.jpeg(), fields: "Content-Length: 5\r\n")),
        Refused(
            name: "a part that is shorter than it says", status: 400,
            content: form.form(form.jpeg(), fields: "Content-Length: 5000\r\n")),
        Refused(
            name: "a large head", status: 413,
            content: form.form(form.jpeg(), fields: "X: \(String(repeating: "x", count: 5_000))\r\n")),
        Refused(name: "nothing in it", status: 422, content: form.form([])),
        Refused(name: "a page", status: 422, content: form.form(Array("<html><script></script></html>".utf8))),
        Refused(
            name: "an SVG", status: 422,
            content: form.form(Array("<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>".utf8))),
        Refused(name: "the beginning of a picture", status: 422, content: form.form(Array(form.jpeg().prefix(20)))),
        Refused(
            name: "10 MB and a byte", status: 413, content: form.form(Array(repeating: 0xFF, count: (10 << 20) + 1))),
        Refused(name: "11 MB", status: 413, content: form.form(Array(repeating: 0xFF, count: 11 << 20))),
    ]

    @Test("an upload that is no acceptable picture is refused, and nothing is stored", arguments: refused)
    func refuses(_ sample: Refused) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let head =
                "POST /api/v1/attachments HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
                + "Authorization: Bearer \(server.token(family.participant))\r\n"
                + "Content-Type: \(sample.contentType)\r\nContent-Length: \(sample.content.count)\r\n\r\n"
            try await server.expectOnly {
                let reply = try await RawClient.send(Array(head.utf8) + sample.content, to: server.port)
                #expect(reply.status == sample.status, "\(reply.text)")
                #expect(reply.errorCode != nil)
            }
        }
    }

    @Test("a form that its Content-Length cuts off is refused")
    func shortLength() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let content = PictureForm.form(PictureForm.jpeg())
            let head =
                "POST /api/v1/attachments HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
                + "Authorization: Bearer \(server.token(family.participant))\r\n"
                + "Content-Type: \(PictureForm.contentType)\r\nContent-Length: \(content.count - 20)\r\n\r\n"
            try await server.expectOnly {
                let reply = try await RawClient.send(Array(head.utf8) + content, to: server.port)
                #expect(reply.status == 400)
            }
        }
    }

    @Test("a picture of 10 MB is kept whole, and read in parts")
    func large() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let bytes = PictureForm.jpeg((10 << 20) - 29, comment: nil)
            #expect(bytes.count <= 10 << 20)
            let attachment = try await server.upload(bytes, as: family.participant)
            #expect(attachment.size == bytes.count)
            let whole = try await server.picture(attachment.id, as: family.participant)
            #expect(whole.body == bytes)
            let part = try await server.picture(attachment.id, as: family.participant, ["Range": "bytes=-5"])
            #expect(part.status == 206 && part.body == Array(bytes.suffix(5)))
        }
    }

    @Test("uploads and downloads without free memory are refused, and leave the memory as it was")
    func memory() async throws {
        try await TestServer.run(configure: {
            $0.maxAnswerMemoryBytes = 1 << 20
            $0.maxAnswerMemoryBytesPerAddress = 1 << 20
        }) { server in
            let family = try await server.family()
            let small = try await server.upload(PictureForm.jpeg(100_000), as: family.guardian)
            let budget = try #require(server.answerMemory)
            try await server.expectOnly {
                let error = try await expectRefusal(503) {
                    try await server.upload(PictureForm.jpeg(400_000), as: family.guardian)
                }
                #expect(error.retryAfter == 1)
            }
            var held = budget.reserve(900_000, for: nil)
            let isHeld = held != nil
            #expect(isHeld)
            #expect(try await server.picture(small.id, as: family.guardian).status == 503)
            let first = try await server.picture(small.id, as: family.guardian, ["Range": "bytes=0-9"])
            #expect(first.status == 206)
            held = nil
            #expect(try await server.picture(small.id, as: family.guardian).status == 200)
        }
    }

    @Test("accounts that are pending, deleted or signed out upload nothing")
    func notActive() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let pending = try await server.account("Peni", status: "pending_guardian_consent")
            let nell = try await server.account()
            try await server.call(API.deleteAccount, AccountPath(userID: nell.id), as: nell)
            try await server.expectOnly {
                try await expectRefusal(403) { try await server.upload(as: pending) }
                try await expectRefusal(401) { try await server.upload(as: nell) }
                let form = PictureForm.form(PictureForm.jpeg())
                #expect(try await server.send("POST", "/api/v1/attachments", token: nil, content: form).status == 401)
            }
            _ = try await server.upload(as: family.child)
        }
    }

    @Test("a person uploads at most 100 pictures a day, and 50 MB that no nag uses, also at once")
    func limits() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (person, child) = (family.participant, family.child)
            try await server.upload(as: person)
            try await server.sql("UPDATE daily_counts SET count = 98 WHERE user_id = \(person.id)")
            let outcomes = try await together(outcomesOf: 4) { _ in try await server.upload(as: person) }
            #expect(outcomes.count { (try? $0.get()) != nil } == 2)
            #expect(try await expectRefusal(429) { try await server.upload(as: person) }.retryAfter != nil)
            server.clock.advance(by: .seconds(86_401))
            try await server.upload(as: try await server.anotherSession(of: person))

            let first = try await server.upload(PictureForm.jpeg(comment: nil), as: child)
            let filler = AttachmentLimit.maxUnusedBytesPerPerson - 2 * first.size
            try await server.sql(
                """
                INSERT INTO attachments (id, uploader_id, filename, content_type, size, digest, created_at, bytes)
                SELECT gen_random_uuid(), uploader_id, filename, content_type, \(filler)::integer, digest, created_at,
                       decode(repeat('00', \(filler)::integer), 'hex')
                FROM attachments WHERE id = \(first.id)
                """)
            let last = try await together(outcomesOf: 3) { _ in
                try await server.upload(PictureForm.jpeg(comment: nil), as: child)
            }
            #expect(last.count { (try? $0.get()) != nil } == 1)
        }
    }

    @Test(
        "a file name is reduced to its last part, and cannot break a header field",
        arguments: [
            ("../../etc/passwd", "passwd", "passwd", "passwd"), (#"C:\\fotos\\a.jpg"#, "a.jpg", "a.jpg", "a.jpg"),
            (#"a\"; x=\"b.jpg"#, "a; x=b.jpg", "a_ x_b.jpg", "a%3B%20x%3Db.jpg"),
            ("\u{202E}gpj.\u{200B}exe", "gpj.exe", "gpj.exe", "gpj.exe"), ("..", "picture", "picture", "picture"),
            ("Zähne.png", "Zähne.png", "Z_hne.png", "Z%C3%A4hne.png"), ("", "picture", "picture", "picture"),
        ])
    func names(_ sent: String, _ kept: String, _ plain: String, _ encoded: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let form = PictureForm.form(PictureForm.jpeg(), filename: sent)
            let attachment = try await server.call(API.createAttachment, Bytes(form), as: family.guardian)
            #expect(attachment.filename == kept)
            let reply = try await server.picture(attachment.id, as: family.guardian)
            #expect(
                reply.header("content-disposition") == "inline; filename=\"\(plain)\"; filename*=UTF-8''\(encoded)")
        }
    }

    @Test("an upload that is repeated with its Idempotency-Key is the same picture")
    func idempotent() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let form = Bytes(PictureForm.form(PictureForm.jpeg()))
            let both = try await together(2) { _ in
                try await server.call(
                    API.createAttachment, form, as: family.guardian, headers: ["Idempotency-Key": "k"])
            }
            #expect(both[0] == both[1])
            #expect(try await server.rows("SELECT id FROM attachments").count == 1)
        }
    }
}

/// Who may do what in the group `attachments`.
extension MatrixRow {
    static let attachments: [MatrixRow] = [
        MatrixRow(API.createAttachment, concern: .caller, allowed: .everybody) { _ in
            (NoParameters(), Bytes(PictureForm.form(PictureForm.jpeg())))
        },
        MatrixRow(API.getAttachment, allowed: .readers, refusals: [404]) {
            (AttachmentPath(attachmentID: $0.attachment), NoBody())
        },
    ]
}
