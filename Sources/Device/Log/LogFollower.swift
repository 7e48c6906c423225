import Audit
import Contract
import LocalAI

/// The server's operations on its audit log that a device needs.
public protocol LogSource: Sendable {
    /// Returns the newest signed checkpoint; nil if the server shows none.
    func newestCheckpoint() async throws -> String?
    /// Returns the consistency proof between two sizes of the log; nil if the server gives none.
    func consistencyProof(from old: Int64, to new: Int64) async throws -> [[UInt8]]?
    /// Returns the keys of the log, with the signed notes in which they hand over to each other.
    func logKeys() async throws -> [AuditKey]
}

extension ServerClient: LogSource {
    public func newestCheckpoint() async throws -> String? {
        try await call(API.getAuditCheckpoint, unlessRefusedWith: 404, NoParameters())?.text
    }

    public func consistencyProof(from old: Int64, to new: Int64) async throws -> [[UInt8]]? {
        let query = ConsistencyQuery(old: Int(old), new: Int(new))
        return try await call(API.proveAuditConsistency, unlessRefusedWith: 422, query)?.path.map(\.bytes)
    }

    /// Calls an endpoint. Returns nil for a refusal with this status.
    private func call<Parameters, Answer>(
        _ endpoint: Endpoint<Parameters, NoBody, Answer>, unlessRefusedWith status: Int, _ parameters: Parameters
    ) async throws(ClientError) -> Answer? {
        do {
            return try await call(endpoint, parameters)
        } catch {
            if case .refused(let refusal) = error, refusal.status == status { return nil }
            throw error
        }
    }

    public func logKeys() async throws -> [AuditKey] { try await call(API.listAuditKeys, NoParameters()).keys }
}

/// Checks that the server's audit log only grows, by the checkpoints that come with the feed.
///
/// The first checkpoint is trusted if it is signed by the pinned key or a successor. Without a pinned key, a key that
/// the server names is enough. Every later one MUST be signed by a key of the same log. The newest one MUST be proven
/// to extend the largest one seen, and a smaller one to be its beginning. So the device detects a server that truncates
/// or rewrites its log, or that shows different histories to different devices. The device stores no page whose
/// checkpoint fails these checks.
struct LogFollower {
    let cache: EventCache
    let source: any LogSource
    /// A key that did not come from the server.
    let pinnedKey: VerifierKey?

    /// Checks the checkpoint of a page, and stores it unless the stored one is larger. If the page has none or a
    /// smaller one, the server's newest checkpoint is fetched, checked and stored. Before the first checkpoint, a page
    /// without one is accepted.
    /// - Parameter pageNote: the signed note of the page; nil if it has none.
    /// - Throws: `LogFault` if the log is not correct; the source's errors.
    func follow(_ pageNote: String?) async throws {
        guard let known = try cache.knownLog() else {
            if let pageNote { try cache.storeUnlessSmaller(try await verifyFirst(pageNote)) }
            return
        }
        if pageNote == known.note { return }
        if let pageNote {
            let log = try await verify(pageNote, after: known)
            if log.checkpoint.size >= known.checkpoint.size { return try await advance(from: known, to: log) }
        }
        // One of several servers may lag behind or have just started, so the newest checkpoint decides.
        guard let newestNote = try await source.newestCheckpoint() else { throw LogFault.checkpointMissing }
        let log = try await verify(newestNote, after: known)
        guard log.checkpoint.size >= known.checkpoint.size else {
            throw LogFault.shrunk(from: known.checkpoint.size, to: log.checkpoint.size)
        }
        if let pageNote { try await require(try Self.parse(pageNote).checkpoint, isBeginningOf: log.checkpoint) }
        try await advance(from: known, to: log)
    }

    private func advance(from known: KnownLog, to log: KnownLog) async throws {
        try await require(known.checkpoint, isBeginningOf: log.checkpoint)
        try cache.storeUnlessSmaller(log)
    }

    /// Returns the record of a log that this device sees for the first time, if a trusted key has signed the
    /// checkpoint.
    private func verifyFirst(_ noteText: String) async throws -> KnownLog {
        let (note, checkpoint) = try Self.parse(noteText)
        var trusted = TrustedKeys(pinned: pinnedKey.map { [$0] } ?? [])
        if trusted.checkpoint(in: note) == nil {
            let serverKeys = try await source.logKeys()
            if pinnedKey == nil {
                // Without a pinned key, the server's key is trusted.
                let keys = serverKeys.compactMap { VerifierKey($0.verifier) }
                trusted = TrustedKeys(pinned: keys.filter { $0.name == checkpoint.origin && note.isSigned(by: $0) })
            } else {
                trusted.acceptHandovers(serverKeys.handovers)
            }
        }
        guard trusted.checkpoint(in: note) != nil else { throw LogFault.unsigned(origin: checkpoint.origin) }
        return KnownLog(checkpoint: checkpoint, note: noteText, keys: trusted.keys, isPinned: pinnedKey != nil)
    }

    /// Returns the record of a later checkpoint of the known log, if a trusted key has signed it.
    private func verify(_ noteText: String, after known: KnownLog) async throws -> KnownLog {
        let (note, checkpoint) = try Self.parse(noteText)
        guard checkpoint.origin == known.checkpoint.origin else {
            throw LogFault.otherLog(known: known.checkpoint.origin, shown: checkpoint.origin)
        }
        var trusted = TrustedKeys(pinned: known.keys)
        if trusted.checkpoint(in: note) == nil { trusted.acceptHandovers(try await source.logKeys().handovers) }
        guard trusted.checkpoint(in: note) != nil else { throw LogFault.unsigned(origin: checkpoint.origin) }
        return KnownLog(checkpoint: checkpoint, note: noteText, keys: trusted.keys, isPinned: known.isPinned)
    }

    private static func parse(_ noteText: String) throws(LogFault) -> (note: SignedNote, checkpoint: Checkpoint) {
        guard let note = SignedNote(noteText), let checkpoint = Checkpoint(text: note.text) else { throw .unreadable }
        return (note, checkpoint)
    }

    /// Throws unless the first checkpoint is proven to be the beginning of the other one.
    private func require(_ old: Checkpoint, isBeginningOf new: Checkpoint) async throws {
        // No proof is needed for the same size, or for an empty log.
        let path =
            old.size == new.size || old.size == 0 ? [] : try await source.consistencyProof(from: old.size, to: new.size)
        guard let path,
            MerkleProof.isConsistent(old: old.size, oldRoot: old.root, new: new.size, newRoot: new.root, path: path)
        else { throw LogFault.rewritten(size: old.size) }
    }
}

/// A fault that a correct audit log never shows.
public enum LogFault: Error, Hashable, Sendable {
    /// The server shows no checkpoint any more.
    case checkpointMissing
    /// The checkpoint cannot be parsed.
    case unreadable
    /// No key that this device trusts has signed the checkpoint.
    case unsigned(origin: String)
    /// The log has another origin.
    case otherLog(known: String, shown: String)
    /// The log has fewer entries than before.
    case shrunk(from: Int64, to: Int64)
    /// It is not proven that the log that the server shows now begins with the log of this size that the device has
    /// seen.
    case rewritten(size: Int64)
}

extension [AuditKey] {
    fileprivate var handovers: [SignedNote] { compactMap { $0.handover.flatMap { SignedNote($0) } } }
}
