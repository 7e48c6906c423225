import Testing

@testable import HTTP

@Suite("Multipart forms")
struct MultipartFormTests {
    private static let picture = #"Content-Disposition: form-data; name="file"; filename="image.jpg""#

    /// A body with the boundary `b`: heads and contents.
    private static func body(_ parts: [(head: String, content: String)], end: String = "--b--\r\n") -> String {
        parts.map { "--b\r\n\($0.head)\r\n\r\n\($0.content)\r\n" }.joined() + end
    }

    struct Accepted: Sendable, CustomTestStringConvertible {
        let name: String
        let body: String
        /// Name, file name and content of each part.
        let parts: [[String?]]
        var testDescription: String { name }
    }

    static let accepted: [Accepted] = [
        Accepted(
            name: "one file", body: body([("\(picture)\r\nContent-Type: image/jpeg", "bytes")]),
            parts: [["file", "image.jpg", "bytes"]]),
        Accepted(
            name: "several fields", body: body([("content-disposition:form-data;name=a", "1"), (picture, "2")]),
            parts: [["a", nil, "1"], ["file", "image.jpg", "2"]]),
        Accepted(name: "no parts", body: "--b--", parts: []),
        Accepted(
            name: "text before and after, which is ignored", body: "before\r\n" + body([(picture, "x")]) + "after",
            parts: [["file", "image.jpg", "x"]]),
        Accepted(
            name: "blanks after the boundary", body: "--b \t\r\n\(picture)\r\n\r\nx\r\n--b-- ",
            parts: [["file", "image.jpg", "x"]]),
        Accepted(name: "an empty part", body: body([(picture, "")]), parts: [["file", "image.jpg", ""]]),
        Accepted(
            name: "a part without content, whose head ends with the delimiter",
            body: "--b\r\n\(picture)\r\n\r\n--b--\r\n", parts: [["file", "image.jpg", ""]]),
        Accepted(
            name: "content that resembles a delimiter", body: body([(picture, "\r\n-b\r\n--\r\r\n--\n--b")]),
            parts: [["file", "image.jpg", "\r\n-b\r\n--\r\r\n--\n--b"]]),
        Accepted(
            name: "quoted characters", body: body([(#"Content-Disposition: form-data; name="a\"b\\c\d;e""#, "x")]),
            parts: [[#"a"b\c\d;e"#, nil, "x"]]),
        Accepted(
            name: "a file name in UTF-8; filename* is ignored",
            body: body([
                ("Content-Disposition: form-data; name=f; filename*=UTF-8''x; filename=\"Z\u{FC}ge.jpg\";", "x")
            ]),
            parts: [["f", "Z\u{FC}ge.jpg", "x"]]),
        Accepted(
            name: "a true length", body: body([("\(picture)\r\nContent-Length: 5", "bytes")]),
            parts: [["file", "image.jpg", "bytes"]]),
        Accepted(
            name: "as many parts as allowed", body: body(Array(repeating: (picture, "x"), count: 16)),
            parts: Array(repeating: ["file", "image.jpg", "x"], count: 16)),
    ]

    @Test("the parser reads a multipart form's parts", arguments: accepted)
    func reads(_ sample: Accepted) throws {
        let bytes = Array(sample.body.utf8)
        let form = try MultipartForm(parsing: bytes.span, MultipartBoundary(Array("b".utf8)))
        #expect(
            form.parts.map { [$0.name, $0.filename, String(decoding: bytes[$0.content], as: UTF8.self)] }
                == sample.parts)
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let name: String
        let body: String
        let error: MultipartError
        var testDescription: String { name }
    }

    static let refused: [Refused] = [
        Refused(name: "nothing", body: "", error: .missingDelimiter),
        Refused(name: "no boundary", body: "bytes", error: .missingDelimiter),
        Refused(name: "a boundary in the middle of a line", body: "x--b--", error: .missingDelimiter),
        Refused(name: "no end", body: body([(picture, "x")], end: ""), error: .missingDelimiter),
        Refused(
            name: "no end after the last boundary", body: body([(picture, "x")], end: "--b"), error: .missingDelimiter),
        Refused(name: "half an end", body: body([(picture, "x")], end: "--b-"), error: .missingDelimiter),
        Refused(name: "half a head", body: "--b\r\nContent-Disposition: form", error: .missingDelimiter),
        Refused(name: "LF alone", body: "--b\n\(picture)\n\nx\n--b--\n", error: .delimiterSyntax),
        Refused(name: "LF alone in a head", body: "--b\r\n\(picture)\n\r\nx\r\n--b--", error: .headSyntax),
        Refused(
            name: "a longer boundary of a nested form", body: "--b\r\n\(picture)\r\n\r\n\r\n--bc\r\n\r\nx\r\n--b--",
            error: .delimiterSyntax),
        Refused(name: "text after the end", body: body([(picture, "x")], end: "--b--x"), error: .missingDelimiter),
        Refused(name: "more text after the end", body: body([(picture, "x")], end: "--b--xy"), error: .delimiterSyntax),
        Refused(name: "no Content-Disposition", body: body([("Content-Type: image/jpeg", "x")]), error: .headSyntax),
        Refused(name: "two of them", body: body([("\(picture)\r\n\(picture)", "x")]), error: .headSyntax),
        Refused(
            name: "an attachment", body: body([("Content-Disposition: attachment; name=file", "x")]),
            error: .headSyntax),
        Refused(name: "no name", body: body([("Content-Disposition: form-data", "x")]), error: .headSyntax),
        Refused(
            name: "two names", body: body([("Content-Disposition: form-data; name=a; name=b", "x")]),
            error: .headSyntax),
        Refused(
            name: "two file names",
            body: body([("Content-Disposition: form-data; name=a; filename=a; filename=b", "x")]), error: .headSyntax),
        Refused(
            name: "an open quotation", body: body([("Content-Disposition: form-data; name=\"a", "x")]),
            error: .headSyntax),
        Refused(name: "a folded field", body: body([("\(picture);\r\n a=b", "x")]), error: .headSyntax),
        Refused(name: "a field without a name", body: body([(": a", "x")]), error: .headSyntax),
        Refused(name: "a control byte", body: body([("\(picture)\r\nX: \u{0}", "x")]), error: .headSyntax),
        Refused(
            name: "a nested form",
            body: body([("\(picture)\r\nContent-Type: Multipart/Mixed; boundary=c", "--c--")]), error: .nested),
        Refused(
            name: "a length that is too small", body: body([("\(picture)\r\nContent-Length: 4", "bytes")]),
            error: .wrongLength),
        Refused(
            name: "a length that is too large",
            body: body([("\(picture)\r\nContent-Length: 999999999999999999", "bytes")]), error: .wrongLength),
        Refused(
            name: "a length that is no number", body: body([("\(picture)\r\nContent-Length: +5", "bytes")]),
            error: .headSyntax),
        Refused(
            name: "a length over all numbers",
            body: body([("\(picture)\r\nContent-Length: 99999999999999999999", "bytes")]), error: .headSyntax),
        Refused(name: "17 parts", body: body(Array(repeating: (picture, "x"), count: 17)), error: .tooManyParts),
        Refused(name: "1,000 parts", body: body(Array(repeating: (picture, ""), count: 1_000)), error: .tooManyParts),
        Refused(
            name: "a large head", body: body([("\(picture)\r\nX: \(String(repeating: "x", count: 4_096))", "x")]),
            error: .headTooLarge),
    ]

    @Test("the parser refuses a malformed multipart form", arguments: refused)
    func refuses(_ sample: Refused) throws {
        let boundary = try MultipartBoundary(Array("b".utf8))
        let bytes = Array(sample.body.utf8)
        #expect(throws: sample.error) { try MultipartForm(parsing: bytes.span, boundary) }
    }

    @Test(
        "the parser reads the boundary of a Content-Type",
        arguments: [
            ("multipart/form-data; boundary=abc", "abc"),
            ("Multipart/Form-Data;charset=utf-8;BOUNDARY=\"a b:c\"", "a b:c"),
            ("multipart/form-data; boundary=" + String(repeating: "x", count: 70), String(repeating: "x", count: 70)),
            (
                "multipart/form-data;boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW;",
                "----WebKitFormBoundary7MA4YWxkTrZu0gW"
            ),
        ])
    func boundaries(_ field: String, _ boundary: String) throws {
        let bytes = Array(field.utf8)
        #expect(try MultipartBoundary(contentType: bytes.span).bytes == Array(boundary.utf8))
    }

    @Test(
        "the parser refuses a Content-Type without a valid boundary",
        arguments: [
            ("", MultipartError.mediaType), (";boundary=a", .mediaType), ("application/json", .mediaType),
            ("multipart/mixed; boundary=a", .mediaType), ("multipart/form-data", .boundarySyntax),
            ("multipart/form-data; boundary=", .boundarySyntax),
            ("multipart/form-data; boundary=\"\"", .boundarySyntax),
            ("multipart/form-data; boundary=\"a ", .boundarySyntax),
            ("multipart/form-data; boundary=\"a \"", .boundarySyntax),
            ("multipart/form-data; boundary=a; boundary=a", .boundarySyntax),
            ("multipart/form-data; boundary=\"a@b\"", .boundarySyntax), ("multipart/form-data boundary=a", .mediaType),
            ("multipart/form-data; boundary=" + String(repeating: "x", count: 71), .boundarySyntax),
        ])
    func badBoundaries(_ field: String, _ error: MultipartError) {
        let bytes = Array(field.utf8)
        #expect(throws: error) { try MultipartBoundary(contentType: bytes.span) }
    }

    @Test("the parser reads 10 MB of line ends that might begin a delimiter")
    func lineEnds() throws {
        let content = Array(repeating: [UInt8]("\r\n--".utf8), count: 2_500_000).flatMap(\.self)
        let bytes = Array("--b\r\n\(Self.picture)\r\n\r\n".utf8) + content + Array("\r\n--b--".utf8)
        let form = try MultipartForm(parsing: bytes.span, MultipartBoundary(Array("b".utf8)))
        #expect(form.parts.map(\.content.count) == [10_000_000])
    }
}
