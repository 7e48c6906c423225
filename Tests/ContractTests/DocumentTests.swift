import Contract
import Domain
import Foundation
import JSON
import OpenAPICheck
import Testing
import WireCompiler

/// The document this repository ships.
let document: OpenAPIDocument = {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../openapi/openapi.json").standardizedFileURL
    guard let bytes = try? Data(contentsOf: file), let json = try? JSONValue(parsing: [UInt8](bytes)) else {
        return OpenAPIDocument(.null)
    }
    return OpenAPIDocument(json)
}()

@Suite("OpenAPI document")
struct DocumentTests {
    @Test("the OpenAPI document has the version of the API")
    func version() {
        #expect(document.version == NagzVersion.api)
    }

    @Test("the OpenAPI document describes every operation and no other")
    func sameOperations() {
        func line(_ method: String, _ path: String, _ id: String) -> String { "\(method) \(path) \(id)" }
        let ours = API.all.map { line($0.method.rawValue, $0.path, $0.id) }
        let theirs = document.operations.map { line($0.method, $0.path, $0.id) }
        #expect(Set(ours).count == ours.count)
        #expect(Set(API.all.map(\.id)).count == API.all.count)
        #expect(Set(ours).symmetricDifference(theirs).isEmpty)
    }

    @Test("openapi.json is what the declarations of the wire say: swift run wirec document Sources/Contract/Wire")
    func isMadeOfDeclarations() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let stored = try String(contentsOf: root.appending(path: "openapi/openapi.json"), encoding: .utf8)
        let made = try WireFolder(root.appending(path: "Sources/Contract/Wire")).document()
        // The texts are long: a difference is shown by its first line.
        let difference = zip(stored.split(separator: "\n"), made.split(separator: "\n")).first { $0 != $1 }
        #expect(difference == nil && stored.count == made.count, "\(String(describing: difference))")
    }

    @Test("document and operation agree on status, access, tag and possible errors", arguments: API.all)
    func sameTerms(operation: Contract.Operation) throws {
        let described = try #require(document.operation(operation.method.rawValue, operation.path))
        #expect(described.path == operation.path)
        #expect(described.successStatus == operation.successStatus)
        #expect((described.security == .bearer) == (operation.access == .bearer))
        #expect(described.tags == [operation.tag.rawValue])
        var errors: Set = [400, 414, 500, 503]
        if operation.access == .bearer { errors.insert(401) }
        // Whoever has a session may export the account.
        if operation.access == .bearer, operation.id != "exportAccount" { errors.insert(403) }
        if operation.tier != .exempt { errors.insert(429) }
        if described.bodySchema != nil { errors.formUnion([413, 422]) }
        if described.parameters.contains(where: { $0.place != "header" }) { errors.insert(422) }
        #expect(errors.subtracting(described.statuses).isEmpty)
        for status in described.statuses where status >= 400 {
            let schema = try #require(document.responseSchema(described, status: status))
            let envelope = ErrorEnvelope(APIError(.notFound, "m", field: "f"), requestID: "r")
            #expect(document.check(try JSONValue(parsing: envelope.content), schema: schema).isEmpty)
        }
    }

    @Test(
        "summaries begin with the verb of the operation's id, have at most 70 characters and no full stop",
        arguments: API.all)
    func summaries(operation: Contract.Operation) throws {
        let summary = try #require(document.operation(operation.method.rawValue, operation.path)).summary
        let verb = operation.id.prefix { $0.isLowercase }
        #expect(summary.lowercased().hasPrefix(verb), "\(operation.id): \(summary)")
        #expect(summary.first?.isUppercase == true && summary.count <= 70 && !summary.hasSuffix("."), "\(summary)")
    }

    @Test("every operation of the document has a sample")
    func coverage() {
        #expect(Set(Sample.all.map(\.operation.id)) == Set(API.all.map(\.id)))
    }

    @Test("a sample's parameters are those of the document, and read back", arguments: Sample.all)
    func parameters(sample: Sample) throws {
        let described = try #require(document.operation(sample.operation.method.rawValue, sample.target))
        #expect(described.id == sample.operation.id)
        func names(_ place: String) -> Set<String> {
            Set(described.parameters.filter { $0.place == place }.map(\.name))
        }
        #expect(Set(sample.pathNames) == names("path"))
        #expect(Set(sample.queryNames) == names("query"))
        #expect(!sample.target.contains("{"))
        #expect(try sample.targetAgain() == sample.target)
    }

    @Test("request bodies have exactly the described members, and read back", arguments: Sample.all)
    func bodies(sample: Sample) throws {
        let described = try #require(document.operation(sample.operation.method.rawValue, sample.operation.path))
        guard let schema = described.bodySchema else {
            #expect(sample.body.isEmpty)
            return
        }
        #expect(document.check(try JSONValue(parsing: sample.body), against: schema) == [])
        #expect(try sample.bodyAgain() == sample.body)
        #expect(try sample.unknownNames().isEmpty)
    }

    @Test("answers have exactly the described members, and read back", arguments: Sample.all)
    func answers(sample: Sample) throws {
        let operation = sample.operation
        let described = try #require(document.operation(operation.method.rawValue, operation.path))
        if let schema = document.responseSchema(described, status: operation.successStatus) {
            let answer = try JSONValue(parsing: sample.answer)
            #expect(document.check(answer, schema: schema) == [])
            #expect(
                document.checkResponse(
                    operation.method.rawValue, sample.target, status: operation.successStatus, body: answer) == [])
        }
        #expect(try sample.answerAgain() == sample.answer)
    }

    @Test("the document has every preference that the server knows, with its default")
    func preferences() throws {
        let described = try #require(document.schema("PreferenceValues")?["properties"]?.objectValue)
        #expect(Set(described.members.map(\.key)) == Set(PreferenceKey.allCases.map(\.rawValue)))
        let defaults = PreferenceOverrides { key in
            switch described[key.rawValue]?["default"] {
            case .bool(let flag): .flag(flag)
            case .string(let text): .text(text)
            case .integer(let number): .number(Int(number))
            default: nil
            }
        }
        #expect(Preferences(family: PreferenceOverrides(), user: defaults) == Preferences())
        let without = described.members.filter { $0.value["default"] == nil }.map(\.key)
        #expect(Set(without) == ["timezone", "mute_until", "ai_model_local", "ai_model_cloud"])
    }

    @Test("examples of the document satisfy their schemas", arguments: document.schemaNames)
    func examples(name: String) throws {
        let schema = try #require(document.schema(name))
        for example in schema["examples"]?.arrayValue ?? [] {
            #expect(document.check(example, against: name, .schema) == [])
        }
    }

    @Test("the schema checker finds every fault of a wrong value")
    func checkerCanFail() {
        let member: JSONValue = [
            "user_id": "00000000-0000-0000-0000-000000000001", "role": "child", "family_id": "nonsense",
            "status": "gone", "joined_at": "2026-02-03", "extra": 1,
        ]
        let places = Set(document.check(member, against: "MemberDetail").map(\.description))
        #expect(
            places == [
                "/: lacks display_name", "/: lacks has_child_login", "/: lacks login_locked_until",
                "/extra: is not described", "/family_id: is no UUID", "/joined_at: is no date-time with a zone",
                "/joined_at: does not match ^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$",
                "/status: is none of the listed values",
            ])
        #expect(!document.check([], against: "MemberDetail").isEmpty)
        #expect(!document.check([:], against: "Nonsense").isEmpty)
        #expect(!document.checkResponse("GET", "/api/v1/version", status: 418, body: nil).isEmpty)
        #expect(!document.checkResponse("GET", "/api/v1/nothing", status: 200, body: nil).isEmpty)
        #expect(document.checkResponse("POST", "/api/v1/auth/logout", status: 204, body: nil).isEmpty)
    }

    @Test("a literal path wins over a parameter")
    func pathMatching() {
        #expect(document.operation("POST", "/api/v1/families/join")?.id == "joinFamily")
        #expect(document.operation("GET", "/api/v1/families/1?x=2")?.id == "getFamily")
        #expect(document.operation("GET", "/api/v1//nags/1")?.id == "getNag")
    }
}
