import Audit
import Contract

/// What following the audit log asks of a server.
public protocol LogSource: Sendable {
    /// The newest checkpoint, as it was signed; nil when the server shows none.
    func newestCheckpoint() async throws -> String?
    /// The proof that the log of the one size is the beginning of that of the other; nil when the server gives none.
    func consistency(from old: Int64, to new: Int64) async throws -> [[UInt8]]?
    /// The keys of the log, and the notes in which they hand over to each other.
    func logKeys() async throws -> [AuditKey]
}

extension ServerClient: LogSource {
    public func newestCheckpoint() async throws -> String? {
        try await call(API.getAuditCheckpoint, unlessRefusedWith: 404, NoParameters())?.text
    }

    public func consistency(from old: Int64, to new: Int64) async throws -> [[UInt8]]? {
        let query = ConsistencyQuery(old: Int(old), new: Int(new))
        return try await call(API.proveAuditConsistency, unlessRefusedWith: 422, query)?.path.map(\.bytes)
    }

    /// Nil for a refusal with that status.
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

/// Sees that the server's audit log only ever grows, by the checkpoints that come with the feed.
///
/// The first one is believed: signed by the key that was pinned, or, without one, by a key the server names. From then on
/// every other MUST be signed by a key of the same log and be proven to continue the highest that was seen. So a server
/// that cuts its log, writes its past anew, or shows this device another past than others is found out, and no page that
/// comes with such a checkpoint is taken in.
struct LogFollower {
    let cache: EventCache
    let source: any LogSource
    /// A key known from elsewhere than the server.
    let pinned: VerifierKey?

    /// Takes notice of the checkpoint that came with a page.
    /// - Throws: `LogFault` for what an honest log does not show; what the source throws.
    func follow(_ shown: String?) async throws {
        guard let known = try cache.knownLog() else {
            if let shown { try cache.keep(try await begin(shown)) }
            return
        }
        if shown == known.note { return }
        if let shown {
            let log = try await read(shown, after: known)
            if log.checkpoint.size >= known.checkpoint.size { return try await advance(from: known, to: log) }
        }
        // One of several servers may be a moment behind the others, or just started: only the log itself can tell.
        guard let newest = try await source.newestCheckpoint() else { throw LogFault.notShown }
        let log = try await read(newest, after: known)
        guard log.checkpoint.size >= known.checkpoint.size else {
            throw LogFault.shrunk(from: known.checkpoint.size, to: log.checkpoint.size)
        }
        if let shown { try await require(try Self.parse(shown).1, isBeginningOf: log.checkpoint) }
        try await advance(from: known, to: log)
    }

    private func advance(from known: KnownLog, to log: KnownLog) async throws {
        try await require(known.checkpoint, isBeginningOf: log.checkpoint)
        try cache.keep(log)
    }

    private func begin(_ text: String) async throws -> KnownLog {
        let (note, checkpoint) = try Self.parse(text)
        var trusted = TrustedKeys(pinned: pinned.map { [$0] } ?? [])
        if trusted.checkpoint(note) == nil {
            let offered = try await source.logKeys()
            if pinned == nil {
                // Nobody vouches for the first key but the server itself.
                let keys = offered.compactMap { VerifierKey($0.verifier) }
                trusted = TrustedKeys(pinned: keys.filter { $0.name == checkpoint.origin && note.isSigned(by: $0) })
            } else {
                trusted.accept(offered.handovers)
            }
        }
        guard trusted.checkpoint(note) != nil else { throw LogFault.unsigned(origin: checkpoint.origin) }
        return KnownLog(checkpoint: checkpoint, note: text, keys: trusted.keys, isPinned: pinned != nil)
    }

    private func read(_ text: String, after known: KnownLog) async throws -> KnownLog {
        let (note, checkpoint) = try Self.parse(text)
        guard checkpoint.origin == known.checkpoint.origin else {
            throw LogFault.otherLog(known: known.checkpoint.origin, shown: checkpoint.origin)
        }
        var trusted = TrustedKeys(pinned: known.keys)
        if trusted.checkpoint(note) == nil { trusted.accept(try await source.logKeys().handovers) }
        guard trusted.checkpoint(note) != nil else { throw LogFault.unsigned(origin: checkpoint.origin) }
        return KnownLog(checkpoint: checkpoint, note: text, keys: trusted.keys, isPinned: known.isPinned)
    }

    private static func parse(_ text: String) throws(LogFault) -> (SignedNote, Checkpoint) {
        guard let note = SignedNote(text), let checkpoint = Checkpoint(text: note.text) else { throw .unreadable }
        return (note, checkpoint)
    }

    private func require(_ old: Checkpoint, isBeginningOf new: Checkpoint) async throws {
        // Of the same size, or before the first entry, there is nothing to ask for.
        let path =
            old.size == new.size || old.size == 0 ? [] : try await source.consistency(from: old.size, to: new.size)
        guard let path,
            MerkleProof.isConsistent(old: old.size, oldRoot: old.root, new: new.size, newRoot: new.root, path: path)
        else { throw LogFault.rewritten(size: old.size) }
    }
}

/// What an honest audit log does not show.
public enum LogFault: Error, Hashable, Sendable {
    /// There was a log, and now there is none.
    case notShown
    /// What came as a checkpoint is none.
    case unreadable
    /// No key that this device trusts has signed the checkpoint.
    case unsigned(origin: String)
    /// It is a log of another name.
    case otherLog(known: String, shown: String)
    case shrunk(from: Int64, to: Int64)
    /// The log of that size, as this device was shown it, is not the beginning of what the server shows now.
    case rewritten(size: Int64)
}

extension [AuditKey] {
    fileprivate var handovers: [SignedNote] { compactMap { $0.handover.flatMap { SignedNote($0) } } }
}
