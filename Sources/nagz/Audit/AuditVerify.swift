import Audit
import Contract
import Domain
import Foundation
import Reactor
import Server

/// `nagz audit verify`: checks whether an audit log, from an export or a server, is unchanged. It needs only a pinned
/// key.
enum AuditVerify {
    static func run(_ arguments: inout Arguments) async throws {
        let pinned = try AuditKeyFile.takePinnedKeys(&arguments)
        let witnessNotes = try arguments.takeValues("--witness").flatMap { try WitnessFile.read($0) }.map { text in
            guard let note = SignedNote(text) else {
                throw Stop(.configuration, "a witness's checkpoint is not a signed note")
            }
            return note
        }
        let family = try arguments.takeFamily()
        let maxAgeMinutes = try arguments.takeNumber("--max-age", in: 1...1_000_000)
        let client = try arguments.takeValue("--url").map(AuditClient.init)
        let path = client == nil ? arguments.takeNext() : nil
        try arguments.finish()
        let check = AuditExportCheck(pinned: pinned, witnessNotes: witnessNotes)
        if let client {
            try await client.export(AuditExportQuery(familyID: family)) { try check.add($0) }
            try await check.checkExtends(witnessNotes, with: client)
        } else if let path {
            try addFile(path, to: check)
        } else {
            throw Stop(.usage, "nagz audit verify takes a file, or a server with --url")
        }
        try check.finish(maxAge: maxAgeMinutes.map { .minutes(Int64($0)) })
    }

    private static func addFile(_ path: String, to check: AuditExportCheck) throws {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw Stop(.configuration, "“\(path)” cannot be read")
        }
        defer { try? file.close() }
        while let data = try file.read(upToCount: 1 << 20), !data.isEmpty { try check.add(data) }
    }
}

extension Arguments {
    /// Removes the option `--family` and returns its value; nil without it.
    mutating func takeFamily() throws -> FamilyID? {
        guard let text = try takeValue("--family") else { return nil }
        guard let family = FamilyID(text) else { throw Stop(.usage, "--family takes a family's id") }
        return family
    }
}

/// Verifies one audit log, from bytes of any source.
final class AuditExportCheck: Sendable {
    private struct State {
        var splitter = LineSplitter()
        /// The lines that were added last. Other threads parse them while the earlier lines are verified.
        var readAhead: ReadAhead?
        var verifier: AuditLogVerifier
        var lineCount = 0
        /// The export's header line; nil until it was read.
        var header: AuditExportLine.Header?
        var progress = ProgressLine()
    }

    private let state: Locked<State>
    private let startedAt = ContinuousClock.now

    init(pinned: [VerifierKey], witnessNotes: [SignedNote]) {
        state = Locked(State(verifier: AuditLogVerifier(pinned: pinned, witnesses: witnessNotes)))
    }

    /// Adds bytes of the log, and verifies the lines that were added before. `checkExtends` and `finish` verify the
    /// last lines.
    /// - Throws: `Stop` with exit code 1 and the first invalid entry, or 2 for a line that cannot be parsed.
    func add(_ data: Data) throws {
        try state.withLock { state in
            // Checks that need only one entry run on all processors, while the chains of earlier entries are verified
            // in order.
            let earlier = state.readAhead
            state.readAhead = ReadAhead(state.splitter.takeCompleteLineBytes(adding: data))
            if let earlier { try Self.check(earlier.waitForLines(), &state) }
        }
    }

    private static func check(_ lines: [ParsedLine], _ state: inout State) throws {
        for line in lines {
            state.lineCount += 1
            switch line {
            case .entry(let record): try check(record, &state.verifier)
            case .unparsed(let bytes):
                guard let exportLine = AuditExportLine(bytes) else {
                    throw Stop(.incomplete, "line \(state.lineCount) is not a line of an export")
                }
                if case .header(let header) = exportLine { state.header = header }
                try check(exportLine, line: state.lineCount, &state.verifier)
            }
        }
        state.progress.show("\(state.verifier.entryCount) entries checked")
    }

    /// Verifies the lines that were added last.
    private static func verifyReadAhead(_ state: inout State) throws {
        guard let readAhead = state.readAhead else { return }
        state.readAhead = nil
        try check(readAhead.waitForLines(), &state)
    }

    private static func check(_ line: AuditExportLine, line number: Int, _ verifier: inout AuditLogVerifier) throws {
        if case .other = line { return }
        guard let record = ExportRecord(line) else {
            throw Stop(.incomplete, "line \(number) is not a line of an export")
        }
        try check(record, &verifier)
    }

    private static func check(_ record: ExportRecord, _ verifier: inout AuditLogVerifier) throws {
        do throws(AuditFinding) {
            try verifier.check(record)
        } catch {
            throw Stop(.tampered, "TAMPERED: \(error)")
        }
    }

    /// Verifies, with proofs of a server, that its log extends the witnesses' checkpoints.
    func checkExtends(_ witnessNotes: [SignedNote], with client: AuditClient) async throws {
        let newestSize = try state.withLock { state in
            try Self.verifyReadAhead(&state)
            return state.verifier.newestCheckpoint?.size
        }
        guard let newestSize else { return }
        for oldSize in Set(witnessNotes.compactMap { Checkpoint(text: $0.text)?.size })
        where oldSize > 0 && oldSize < newestSize {
            let proof = try await client.call(
                API.proveAuditConsistency, ConsistencyQuery(old: Int(oldSize), new: Int(newestSize)))
            try state.withLock { try Self.check(.consistency(proof), line: 0, &$0.verifier) }
        }
    }

    private static func entryCountText(_ entries: Int64) -> String { counted(entries, "entry", "entries") }

    /// Prints the verdict.
    /// - Parameter maxAge: the maximum age of the newest checkpoint; nil for any age.
    /// - Throws: `Stop` with exit code 1 or 2 unless the audit log is sound and new enough.
    func finish(maxAge: Timestamp.Span?) throws {
        try state.withLock { state in
            try Self.verifyReadAhead(&state)
            state.progress.clear()
            let verifier = state.verifier
            let seconds = (ContinuousClock.now - startedAt) / .seconds(1)
            switch verifier.verdict() {
            case .tampered(let finding): throw Stop(.tampered, "TAMPERED: \(finding)")
            case .incomplete(let reason): throw Stop(.incomplete, "INCOMPLETE: \(reason)")
            case .sound: break
            }
            guard let newest = verifier.newestCheckpoint else {
                throw Stop(.incomplete, "INCOMPLETE: there is no checkpoint")
            }
            if let maxAge, SystemClock().now() - newest.time > maxAge {
                throw Stop(
                    .incomplete, "INCOMPLETE: the newest checkpoint (\(newest.time.rfc3339)) is older than --max-age")
            }
            let scope = state.header?.familyID.map { "family \($0)" } ?? "all families"
            let signedCountText = Self.entryCountText(verifier.entryCount - verifier.unsignedCount)
            print("SOUND: \(signedCountText) of \(scope), up to \(newest.time.rfc3339)")
            print("  log      \(newest.origin), \(Self.entryCountText(newest.size)), root \(hexadecimal(newest.root))")
            if verifier.unsignedCount > 0 {
                print("  unsigned \(Self.entryCountText(verifier.unsignedCount)), newer than the newest checkpoint")
            }
            if verifier.missingBodyCount > 0 {
                print("  erased   \(verifier.missingBodyCount) bodies, each with its record")
            }
            let entriesPerSecond = seconds > 0 ? Double(verifier.entryCount) / seconds : 0
            print("  took     \(Int(seconds * 1_000)) ms, \(Int(entriesPerSecond)) entries/s")
        }
    }
}
