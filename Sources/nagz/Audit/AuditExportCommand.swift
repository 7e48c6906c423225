import Audit
import Contract
import Domain
import Foundation
import Reactor
import Server

/// `nagz audit export`: writes the audit log as one JSON object a line, and continues an interrupted run.
enum AuditExportCommand {
    static func run(_ arguments: inout Arguments) async throws {
        let family = try arguments.takeFamily()
        let path = try arguments.takeValue("--output")
        let client = try arguments.takeValue("--url").map(AuditClient.init)
        let witnessNotes = try arguments.takeValues("--witness").flatMap { try WitnessFile.read($0) }
        guard client != nil || witnessNotes.isEmpty else {
            throw Stop(.usage, "--witness needs --url: only a server can prove what a witness saw")
        }
        let url = client == nil ? try arguments.ownerDatabaseURL() : ""
        try arguments.finish()
        let (output, resumption) = try ExportOutput.openToResume(path, family)
        if resumption.isComplete {
            print("the export is already complete")
            return
        }
        let sink = ExportSink(output)
        if let client {
            try await client.export(AuditExportQuery(familyID: family, after: resumption.lastEntryNumber)) {
                try sink.write($0)
            }
            try await sink.writeProofs(for: witnessNotes, by: client)
        } else {
            try await AuditLogFile.export(
                databaseURL: url, keys: try AuditKeyFile.read(arguments.givenOptions), family: family,
                after: resumption.lastEntryNumber.map(Int64.init)
            ) { lines in
                try sink.write(Data(lines.flatMap { $0.jsonBytes + [UInt8(ascii: "\n")] }))
            }
        }
        try sink.finish(path)
    }
}

/// The file or standard output to which an export is written.
enum ExportOutput {
    /// The progress of an earlier run.
    struct Resumption {
        /// The last entry in the file: its number in the exported family's chain, or in an export of all families its
        /// position in the log; nil without an entry.
        var lastEntryNumber: Int?
        /// Whether the file has the line that ends an export.
        var isComplete = false
    }

    /// Opens the file, or without a path standard output. It creates a missing file, and removes the end of an
    /// interrupted export, from the first line that is incomplete or that this run writes again.
    /// - Throws: `Stop` if the file cannot be written, or is not an export of the same family or of all families.
    static func openToResume(_ path: String?, _ family: FamilyID?) throws
        -> (output: FileHandle, resumption: Resumption)
    {
        guard let path else { return (.standardOutput, Resumption()) }
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        guard let file = FileHandle(forUpdatingAtPath: path) else {
            throw Stop(.configuration, "“\(path)” cannot be written")
        }
        var (resumption, keptBytes) = (Resumption(), UInt64(0))
        var splitter = LineSplitter()
        var (isForeign, hasHeader, isCut) = (false, false, false)
        while let data = try file.read(upToCount: 1 << 20), !data.isEmpty {
            splitter.add(data) { line in
                guard let exportLine = AuditExportLine(line) else {
                    isForeign = true
                    return
                }
                // A line that this run writes again is not kept, and none after it.
                switch exportLine {
                case .header(let header):
                    hasHeader = true
                    isForeign = isForeign || header.familyID != family
                case .entry(let entry):
                    isCut = isCut || family == nil && entry.position == nil
                    if !isCut { resumption.lastEntryNumber = family == nil ? entry.position : entry.n }
                case .leaf(let leaf): if !isCut { resumption.lastEntryNumber = leaf.position }
                case .end: resumption.isComplete = true
                case .clock: isCut = true
                case .checkpoint, .inclusion, .consistency, .other: if family != nil { isCut = true }
                case .prune, .node: break
                }
                if !isCut { keptBytes += UInt64(line.count) + 1 }
            }
        }
        guard !isForeign, hasHeader || keptBytes == 0 else {
            throw Stop(.configuration, "“\(path)” is not an export of this log: name another file")
        }
        if !resumption.isComplete {
            try file.truncate(atOffset: keptBytes)
            try file.seekToEnd()
        }
        return (file, resumption)
    }
}

/// Writes an export, and counts its entries.
final class ExportSink: Sendable {
    private struct State {
        var splitter = LineSplitter()
        var entryCount = 0
        /// The size of the log at the export's last checkpoint.
        var checkpointSize = 0
        /// Whether the line that ends an export was written.
        var isComplete = false
        var progress = ProgressLine()
    }

    private let state = Locked(State())
    private let output: FileHandle

    init(_ output: FileHandle) { self.output = output }

    func write(_ data: Data) throws {
        try output.write(contentsOf: data)
        state.withLock { state in
            var (splitter, newState) = (state.splitter, state)
            splitter.add(data) { line in
                if line.starts(with: Array(#"{"entry""#.utf8)) { newState.entryCount += 1 }
                if line.starts(with: Array(#"{"end""#.utf8)) { newState.isComplete = true }
                if line.starts(with: Array(#"{"checkpoint""#.utf8)),
                    case .checkpoint(let note)? = AuditExportLine(line),
                    let size = SignedNote(note).flatMap({ Checkpoint(text: $0.text) })?.size
                {
                    newState.checkpointSize = Int(size)
                }
            }
            newState.splitter = splitter
            state = newState
            state.progress.show("\(state.entryCount) entries written")
        }
    }

    /// Writes the proofs that the log extends the witnesses' checkpoints, for verification offline.
    func writeProofs(for witnessNotes: [String], by client: AuditClient) async throws {
        let size = state.withLock { $0.checkpointSize }
        let oldSizes = Set(witnessNotes.compactMap { SignedNote($0).flatMap { Checkpoint(text: $0.text) }?.size })
        for oldSize in oldSizes.sorted() where oldSize > 0 && oldSize < size {
            let proof = try await client.call(API.proveAuditConsistency, ConsistencyQuery(old: Int(oldSize), new: size))
            try output.write(contentsOf: Data(AuditExportLine.consistency(proof).jsonBytes + [UInt8(ascii: "\n")]))
        }
    }

    /// Prints the number of entries, if the export was written to a file.
    /// - Throws: `Stop` with exit code 2 if the export is incomplete.
    func finish(_ path: String?) throws {
        try state.withLock { state in
            state.progress.clear()
            guard state.isComplete else {
                throw Stop(
                    .incomplete, "the export stopped after \(state.entryCount) entries: run it again to continue")
            }
            guard let path else { return }
            print("\(state.entryCount) entries written to \(path)")
        }
    }
}
