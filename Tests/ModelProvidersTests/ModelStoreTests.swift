import Audit
import Foundation
import JSON
import LoopbackClient
import Reactor
import TestHTTPServer
import Testing

@testable import ModelProviders

@Suite("Model files", .timeLimit(.minutes(5)))
struct ModelStoreTests {
    private static let size = 300_000
    private static let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 >> 8) }

    // MARK: The catalogue

    private static func entry(_ changes: [String: String] = [:]) -> String {
        var fields = [
            "id": "\"small-1.0_q4\"", "variant": "\"lite\"", "url": "\"https://models.example/small.gguf\"",
            "bytes": "1000", "sha256": "\"\(String(repeating: "0a", count: 32))\"", "context": "2048",
            "licence": "\"MIT\"",
        ]
        fields.merge(changes) { $1 }
        return "{" + fields.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    private static func catalogue(_ entries: [String]) throws(CatalogueError) -> ModelCatalogue {
        try ModelCatalogue(parsing: Array("{\"models\":[\(entries.joined(separator: ","))]}".utf8))
    }

    @Test("a catalogue is parsed with its values")
    func catalogue() throws {
        let standard = Self.entry(["id": "\"large\"", "variant": "\"standard\"", "bytes": "1001"])
        let models = try Self.catalogue([Self.entry(), standard]).models
        #expect(models.map(\.id) == ["small-1.0_q4", "large"] && models[0].contextTokens == 2_048)
        #expect(models[0].sha256 == [UInt8](repeating: 0x0A, count: 32) && models[0].licence == "MIT")
        #expect(try ModelCatalogue(parsing: Array("{\"models\":[]}".utf8)).models.isEmpty)
    }

    @Test(
        "the error of a malformed catalogue names the field",
        arguments: [
            ("id", "\"\""), ("id", "\"../x\""), ("id", "\"a/b\""), ("id", "\".hidden\""), ("id", "\"A\""), ("id", "7"),
            ("id", "\"\(String(repeating: "a", count: 65))\""), ("variant", "\"huge\""), ("bytes", "0"),
            ("bytes", "-1"), ("bytes", "1.5"), ("bytes", "1099511627777"), ("sha256", "\"0a\""),
            ("sha256", "\"\(String(repeating: "zz", count: 32))\""), ("context", "255"), ("licence", "\"\""),
            ("url", "\"http://models.example/x\""), ("url", "\"ftp://127.0.0.1/x\""), ("url", "\"https:///x\""),
            ("url", "\"https://user@models.example/x\""), ("url", "\"http://127.0.0.1.example/x\""),
        ])
    func malformed(field: String, value: String) throws {
        let error = #expect(throws: CatalogueError.self) { try Self.catalogue([Self.entry([field: value])]) }
        #expect(error?.field == "models[0].\(field)")
    }

    @Test("a catalogue has no id twice, and its standard models are larger than every lite one")
    func relations() {
        #expect(throws: CatalogueError("models[1].id", "occurs twice: small-1.0_q4")) {
            try Self.catalogue([Self.entry(), Self.entry()])
        }
        let error = #expect(throws: CatalogueError.self) {
            try Self.catalogue([Self.entry(), Self.entry(["id": "\"large\"", "variant": "\"standard\""])])
        }
        #expect(error?.field == "models[1].bytes")
        #expect(throws: CatalogueError.self) { try ModelCatalogue(parsing: Array("[]".utf8)) }
    }

    @Test(
        "a well-formed Content-Range is parsed, and any other refused",
        arguments: [
            ("bytes 0-99/1000", "0 99 1000"), ("Bytes 5-5/*", "5 5 nil"), ("bytes 5-4/10", nil), ("bytes 0-9/9", nil),
            ("bytes +0-9/10", nil), ("bytes */10", nil), ("bytes 0-9", nil), ("0-9/10", nil),
            ("bytes 0-9/10/11", nil), ("bytes 0-99999999999999999999/*", nil), ("bytes -1-9/10", nil),
        ] as [(String, String?)])
    func ranges(text: String, expected: String?) {
        let range = ContentRange(text)
        #expect(range.map { "\($0.first) \($0.last) \($0.total.map { "\($0)" } ?? "nil")" } == expected)
    }

    // MARK: Downloads

    /// Runs `body` with a server, an empty folder, and the model that the server has under that word.
    private func with(
        _ word: String, free: Int64? = nil,
        _ body: @escaping @Sendable (TestHTTPServer, ModelStore, ModelFile) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nagz-models-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await TestHTTPServer.with { server in
            let digest = sha256(Self.content).map { String(format: "%02x", $0) }.joined()
            let url = server.url() + "/file/\(word)/small"
            let model = try #require(
                try Self.catalogue([
                    Self.entry([
                        "id": "\"small\"", "bytes": "\(Self.size)", "sha256": "\"\(digest)\"", "url": "\"\(url)\"",
                    ])
                ]).models.first)
            let store = free.map { free in ModelStore(folder: folder, freeBytes: { _ in free }) }
            try await body(server, store ?? ModelStore(folder: folder), model)
        }
    }

    /// What became of a download: `done`, or the error.
    private func download(_ model: ModelFile, _ store: ModelStore) async throws -> String {
        try await ModelHarness.onLoop { poller in
            do throws(ModelStoreError) {
                let path = try await store.download(model, on: poller) { _ in }
                return FileManager.default.contents(atPath: path).map { [UInt8]($0) } == Self.content ? "done" : "other"
            } catch {
                return "\(error)"
            }
        }
    }

    private func ranges(_ server: TestHTTPServer) async throws -> [String] {
        try await ModelHarness(server: server).requests().compactMap { $0["range"]?.stringValue }
    }

    @Test("a model file is downloaded once, with mode 600", arguments: ["range", "whole"])
    func complete(word: String) async throws {
        try await with(word) { server, store, model async throws in
            #expect(store.state(of: model) == ModelStore.State.missing)
            #expect(throws: ModelStoreError.notDownloaded) { try store.completePath(of: model) }
            #expect(try await download(model, store) == "done")
            #expect(try await download(model, store) == "done")
            #expect(try await ranges(server) == ["bytes=0-\(Self.size - 1)"])
            #expect(store.state(of: model) == ModelStore.State.downloaded)
            func mode(_ path: String) throws -> Int? {
                try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
            #expect(try mode(store.folder) == 0o700 && mode(try store.completePath(of: model)) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder) == ["small.gguf"])
            #expect(try store.delete(model) == Int64(Self.size))
            #expect(store.state(of: model) == ModelStore.State.missing)
            #expect(throws: ModelStoreError.notDownloaded) { try store.delete(model) }
        }
    }

    @Test("an interrupted download is resumed, and begins again at a server without ranges")
    func resumed() async throws {
        for word in ["cut", "cutwhole"] {
            try await with(word) { server, store, model in
                let first = try await download(model, store)
                #expect(first.hasPrefix("interrupted"), "\(word): \(first)")
                guard case .partial(let count) = store.state(of: model) else {
                    Issue.record("\(word): \(store.state(of: model))")
                    return
                }
                #expect(count > 0 && count < Self.size)
                #expect(try await download(model, store) == "done")
                let last = Self.size - 1
                #expect(try await ranges(server) == ["bytes=0-\(last)", "bytes=\(count)-\(last)"])
            }
        }
    }

    @Test(
        "a downloaded file with another size or checksum than the catalogue's is deleted",
        arguments: [
            ("wrong", "checksumDiffers"), ("more", "sizeDiffers"), ("endless", "sizeDiffers"), ("short", "sizeDiffers"),
            ("total", "sizeDiffers"), ("none", "sizeDiffers"),
        ])
    func otherBytes(word: String, expected: String) async throws {
        try await with(word) { _, store, model async throws in
            #expect(try await download(model, store) == expected)
            #expect(store.state(of: model) == ModelStore.State.missing)
        }
    }

    @Test(
        "a server's refusal is reported, and the part that has arrived is kept",
        arguments: [
            ("404", "refused(status: 404)"), ("503", "refused(status: 503)"), ("416", "refused(status: 416)"),
            ("redirect", "refused(status: 302)"), ("shifted", "unreadable"),
        ])
    func refused(word: String, expected: String) async throws {
        try await with(word) { _, store, model in
            try FileManager.default.createDirectory(atPath: store.folder, withIntermediateDirectories: true)
            try Data(Self.content[..<1_000]).write(to: URL(filePath: store.folder + "/small.part"))
            #expect(try await download(model, store) == expected)
            #expect(store.state(of: model) == .partial(bytes: 1_000))
        }
    }

    @Test("a download needs 105 % of the size free, less what has arrived")
    func room() async throws {
        let needed = Int64(Self.size + Self.size / 20)
        try await with("range", free: needed - 1) { server, store, model in
            #expect(try await download(model, store) == "noDiskSpace(needed: \(needed), free: \(needed - 1))")
            #expect(try await ranges(server).isEmpty)
            try Data(Self.content[..<1]).write(to: URL(filePath: store.folder + "/small.part"))
            #expect(try await download(model, store) == "done")
        }
    }

    @Test("two processes do not write one file, and a file of another size is replaced")
    func others() async throws {
        try await with("range") { _, store, model in
            try store.createFolder()
            let other = try ModelPart(store.folder + "/small.part", model) { _ in }
            #expect(try await download(model, store) == "busy")
            withExtendedLifetime(other) {}
        }
        try await with("range") { _, store, model in
            try store.createFolder()
            try Data(repeating: 7, count: 10).write(to: URL(filePath: store.path(of: model)))
            try Data(repeating: 7, count: Self.size + 1).write(to: URL(filePath: store.folder + "/small.part"))
            #expect(store.state(of: model) == .wrongSize(bytes: 10))
            #expect(try await download(model, store) == "done")
        }
        try await with("range") { _, store, model in
            try store.createFolder()
            symlink("/dev/null", store.folder + "/small.part")
            #expect(try await download(model, store) == "file(\(ELOOP))")
        }
    }

    @Test("if the server is unreachable, a download can be continued later")
    func unreachable() async throws {
        try await with("range") { server, store, model in
            let url = "http://127.0.0.1:1/file/range/small"
            let entry = Self.entry(["id": "\"small\"", "bytes": "\(Self.size)", "url": "\"\(url)\""])
            let other = try #require(try Self.catalogue([entry]).models.first)
            #expect(try await download(other, store).hasPrefix("interrupted"))
            #expect(try await download(model, store) == "done")
        }
    }
}
