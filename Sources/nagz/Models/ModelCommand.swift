import Foundation
import JSON
import ModelProviders
import Reactor

/// `nagz models` and `nagz device model`: manage the files of language models for a runtime on this machine.
enum ModelCommand {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        let asJSON = arguments.takeFlag("--json")
        let folder = try arguments.takeValue("--folder") ?? DeviceCommand.dataFolderPath() + "/models"
        try await run(&arguments, of: "models", folder: folder, asJSON: asJSON)
    }

    /// - Parameters:
    ///   - group: `models` or `device model`.
    ///   - folder: the folder of the files, and of the catalogue unless `--catalogue` names another file.
    static func run(_ arguments: inout Arguments, of group: String, folder: String, asJSON: Bool) async throws {
        let cataloguePath = try arguments.takeValue("--catalogue") ?? folder + "/models.json"
        let command = arguments.takeNext()
        let commands = ModelFileCommands(store: ModelStore(folder: folder), asJSON: asJSON)
        do {
            switch command {
            case "list":
                try arguments.finish()
                commands.show(try readCatalogue(cataloguePath, group).models)
            case "status":
                let id = arguments.takeNext()
                try arguments.finish()
                try commands.showStatus(id, try readCatalogue(cataloguePath, group))
            case "download":
                let (isDryRun, authoritiesPath) = (arguments.takeFlag("--dry-run"), try arguments.takeValue("--ca"))
                try await commands.download(
                    try takeModel(&arguments, cataloguePath, group), isDryRun: isDryRun,
                    authoritiesPath: authoritiesPath)
            case "delete":
                let (isDryRun, isSure) = (arguments.takeFlag("--dry-run"), arguments.takeFlag("--yes"))
                try commands.delete(try takeModel(&arguments, cataloguePath, group), isDryRun: isDryRun, isSure: isSure)
            case nil: throw Commands.missingCommandError(in: group)
            case let command?: throw Commands.unknownCommandError([group, command])
            }
        } catch let error as ModelStoreError {
            throw Stop(error, group)
        }
    }

    private static func takeModel(
        _ arguments: inout Arguments, _ cataloguePath: String, _ group: String
    ) throws -> ModelFile {
        guard let id = arguments.takeNext() else { throw Stop(.usage, "no model given: nagz \(group) list shows them") }
        try arguments.finish()
        return try findModel(id, try readCatalogue(cataloguePath, group))
    }

    fileprivate static func findModel(_ id: String, _ catalogue: ModelCatalogue) throws -> ModelFile {
        guard let model = catalogue[id] else { throw Stop(.notFound, "the catalogue has no model “\(id)”") }
        return model
    }

    private static func readCatalogue(_ path: String, _ group: String) throws -> ModelCatalogue {
        guard let file = FileHandle(forReadingAtPath: path),
            let bytes = try? file.read(upToCount: ModelCatalogue.maxCatalogueBytes + 1)
        else { throw Stop(.configuration, "the catalogue “\(path)” cannot be read: see nagz \(group) --help") }
        do throws(CatalogueError) { return try ModelCatalogue(parsing: [UInt8](bytes)) } catch {
            throw Stop(.configuration, "the catalogue “\(path)”: \(error)")
        }
    }
}

/// The commands on the model files of one folder.
private struct ModelFileCommands {
    let store: ModelStore
    let asJSON: Bool

    func show(_ models: [ModelFile]) {
        if asJSON { return print(json: .array(models.map { json($0) })) }
        if models.isEmpty { print("the catalogue has no models") }
        for model in models {
            print(
                model.id.padded(to: 24), model.variant.rawValue.padded(to: 8), model.byteCount.sizeText,
                "context \(model.contextTokens)", model.licence, stateText(store.state(of: model)), separator: "  ")
        }
    }

    /// Prints the state of all models, or the path of one.
    /// - Parameter id: the ID of the one model, which must be downloaded; nil for all.
    func showStatus(_ id: String?, _ catalogue: ModelCatalogue) throws {
        guard let id else { return show(catalogue.models) }
        let model = try ModelCommand.findModel(id, catalogue)
        let path = try store.completePath(of: model)
        if asJSON { print(json: json(model)) } else { print(path) }
    }

    /// Downloads a model, or continues its download.
    /// - Parameter authoritiesPath: the path of a file with the certificates that are trusted; nil for the system's.
    func download(_ model: ModelFile, isDryRun: Bool, authoritiesPath: String?) async throws {
        guard !isDryRun else {
            let state = store.state(of: model)
            return asJSON
                ? print(json: json(model)) : print("\(model.id), \(model.byteCount.sizeText): \(stateText(state))")
        }
        // The store creates its folder; the folders above it are created here.
        let parent = URL(filePath: store.folder).deletingLastPathComponent().path()
        try FileManager.default.createDirectory(
            atPath: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let loop = try EventLoop(name: "nagz-download")
        try loop.start()
        defer { loop.stop() }
        let store = store
        let path = try await loop.runTask { poller in
            let progress = Progress(model)
            return try await store.download(model, on: poller, authoritiesPath: authoritiesPath) {
                progress.show(byteCount: $0)
            }
        }
        if asJSON { print(json: json(model)) } else { print("downloaded: \(path)") }
    }

    func delete(_ model: ModelFile, isDryRun: Bool, isSure: Bool) throws {
        let bytes = store.sizeOnDisk(of: model)
        guard bytes > 0 || store.state(of: model) != .missing else { throw ModelStoreError.notDownloaded }
        if isDryRun {
            return asJSON ? print(json: json(model)) : print("would delete \(model.id), \(bytes.sizeText)")
        }
        if !isSure {
            guard isatty(STDIN_FILENO) != 0 else { throw Stop(.usage, "no terminal to ask on: pass --yes") }
            printError("This deletes \(model.id), \(bytes.sizeText). Type “delete” to continue:")
            guard readLine(strippingNewline: true) == "delete" else { throw Stop(.notApplied, "nothing was deleted") }
        }
        try store.delete(model)
        if asJSON { print(json: json(model)) } else { print("deleted: \(model.id), \(bytes.sizeText)") }
    }

    private func stateText(_ state: ModelStore.State) -> String {
        switch state {
        case .missing: "not downloaded"
        case .partial(let bytes): "\(bytes.sizeText) downloaded; download continues from there"
        case .downloaded: "downloaded"
        case .wrongSize: "the file differs from the catalogue's; download replaces it"
        }
    }

    private func json(_ model: ModelFile) -> JSONValue {
        let state = store.state(of: model)
        let name =
            switch state {
            case .missing: "missing"
            case .partial: "partial"
            case .downloaded: "downloaded"
            case .wrongSize: "other"
            }
        return [
            "id": .string(model.id), "variant": .string(model.variant.rawValue), "url": .string(model.url),
            "bytes": .integer(model.byteCount), "context": .integer(Int64(model.contextTokens)),
            "licence": .string(model.licence), "state": .string(name),
            "bytes_here": .integer(store.sizeOnDisk(of: model)),
            "path": state == .downloaded ? .string(store.path(of: model)) : .null,
        ]
    }
}

/// Prints the progress of a download on standard error: on a terminal in one line, elsewhere one line every ten
/// percent.
private final class Progress {
    private let model: ModelFile
    private let percentStep: Int64
    private let isTerminal = isatty(STDERR_FILENO) != 0
    private var lastPercent: Int64 = -1

    init(_ model: ModelFile) {
        self.model = model
        percentStep = isTerminal ? 1 : 10
    }

    func show(byteCount: Int64) {
        let percent = Int64(Double(byteCount) / Double(model.byteCount) * 100) / percentStep * percentStep
        guard percent != lastPercent else { return }
        lastPercent = percent
        let line = "\(model.id) \(percent) % of \(model.byteCount.sizeText)"
        let end = !isTerminal || percent == 100 ? "\n" : ""
        try? FileHandle.standardError.write(contentsOf: Data(((isTerminal ? "\r" : "") + line + end).utf8))
    }
}

extension Int64 {
    /// The number of bytes as text for people, in megabytes.
    fileprivate var sizeText: String { "\((self + 500_000) / 1_000_000) MB" }
}

extension Stop {
    /// - Parameter group: `models` or `device model`.
    fileprivate init(_ error: ModelStoreError, _ group: String) {
        let code = error.code.map { "\($0): " } ?? ""
        switch error {
        case .notDownloaded: self.init(.notFound, "\(code)the model is not downloaded: run nagz \(group) download")
        case .checksumDiffers:
            self.init(.protocolFault, "\(code)the file has another checksum than the catalogue says, and was deleted")
        case .sizeDiffers:
            self.init(.protocolFault, "the file has another size than the catalogue says, and was deleted")
        case .noDiskSpace(let needed, let free):
            self.init(.inputOutput, "\(code)too little disk space: \(needed.sizeText) needed, \(free.sizeText) free")
        case .busy: self.init(.tryLater, "another process downloads or deletes this model: try again later")
        case .refused(let status) where (300..<400).contains(status):
            self.init(.unavailable, "the server redirects (status \(status)): put the final URL into the catalogue")
        case .refused(let status): self.init(.unavailable, "the server refuses the file with status \(status)")
        case .unreadable: self.init(.unavailable, "the server sent another part of the file than was requested")
        case .interrupted(let reason):
            self.init(.tryLater, "interrupted: \(reason); the next download continues from there")
        case .file(let number):
            self.init(.inputOutput, "the model's file cannot be read or written: \(String(cString: strerror(number)))")
        }
    }
}
