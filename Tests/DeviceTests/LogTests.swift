import Audit
import Contract
import Device
import Domain
import LocalAI
import Synchronization
import Testing

/// A server's audit log as it is shown to a device: honest, or whatever a test makes of it.
final class ShownLog: Sendable {
    private struct State {
        var leaves: [[UInt8]] = []
        var keys: [AuditKey] = []
        var signing: SigningKey
        var time = start
        var newest: String?
    }
    private let state: Mutex<State>

    init(_ entries: Int, origin: String = "log.example", seed: UInt8 = 1) {
        let key = ShownLog.key(seed, origin)
        state = Mutex(State(keys: [AuditKey(verifier: key.verifier.text, handover: nil)], signing: key))
        grow(by: entries)
    }

    static func key(_ seed: UInt8, _ origin: String = "log.example") -> SigningKey {
        guard let key = SigningKey(name: origin, seed: [UInt8](repeating: seed, count: 32)) else {
            preconditionFailure("32 bytes and a name")
        }
        return key
    }

    var newest: String? { state.withLock { $0.newest } }
    var keys: [AuditKey] { state.withLock { $0.keys } }

    private static func root(_ leaves: ArraySlice<[UInt8]>) -> [UInt8] { MerkleHash.root(Array(leaves)) }

    func proof(from old: Int64, to new: Int64) -> [[UInt8]]? {
        state.withLock { state in
            guard new <= state.leaves.count else { return nil }
            return MerkleProof.consistencyRanges(from: old, to: new).map {
                Self.root(state.leaves[Int($0.lowerBound)..<Int($0.upperBound)])
            }
        }
    }

    /// Appends entries, and signs a checkpoint.
    func grow(by count: Int) {
        state.withLock { state in
            for _ in 0..<count { state.leaves.append(MerkleHash.leaf([UInt8(state.leaves.count % 251)])) }
        }
        sign()
    }

    func cut(to count: Int) {
        state.withLock { $0.leaves.removeLast($0.leaves.count - count) }
        sign()
    }

    /// Writes an entry anew, and with it all that follows.
    func rewrite(_ index: Int) {
        state.withLock { $0.leaves[index] = MerkleHash.leaf([255, 255]) }
        sign()
    }

    /// Signs with another key from now on.
    func rotate(to seed: UInt8, handingOver: Bool, origin: String = "log.example") {
        state.withLock { state in
            let next = ShownLog.key(seed, origin)
            let note = handingOver ? TrustedKeys.makeHandover(from: state.signing, to: next.verifier).fullText : nil
            state.keys.append(AuditKey(verifier: next.verifier.text, handover: note))
            state.signing = next
        }
        sign()
    }

    private func sign() {
        state.withLock { state in
            state.time = state.time + .seconds(1)
            let checkpoint = Checkpoint(
                origin: state.signing.verifier.name, size: Int64(state.leaves.count),
                root: Self.root(state.leaves[...]),
                time: state.time)
            state.newest = checkpoint.signed(by: [state.signing]).fullText
        }
    }

    /// Shows nothing any more.
    func hide() { state.withLock { $0.newest = nil } }
}

/// A device whose server shows an audit log with every page; each page brings one more nag.
private final class Follower {
    let cache: EventCache
    let log: ShownLog
    private let pinned: VerifierKey?
    private var rounds: UInt64 = 0

    init(_ folder: String, _ log: ShownLog, pinned: VerifierKey? = nil) throws {
        cache = try EventCache(path: folder + "/cache.db", seal: .test)
        self.log = log
        self.pinned = pinned
    }

    /// A round in which a checkpoint comes with the page: the log's newest, or another.
    func sync(showing shown: String?? = .none) async throws {
        rounds += 1
        let (number, checkpoint) = (rounds, shown ?? log.newest)
        let source = ScriptedSource(
            pages: { _, _ in page(nags: [syncedNag(number)], cursor: "\(number)", checkpoint: checkpoint) }, log: log)
        _ = try await SyncService(cache: cache, outbox: nil, source: source, logKey: pinned, now: { start })
            .run(homeFamily)
    }

    /// A round that is refused, and leaves the cache as it was.
    func expectRefusal(
        _ fault: LogFault, showing shown: String?? = .none, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let before = (try cache.counts(), try cache.cachedFamily(homeFamily)?.cursor, try cache.knownLog())
        await #expect(throws: fault, sourceLocation: sourceLocation) { try await sync(showing: shown) }
        let after = (try cache.counts(), try cache.cachedFamily(homeFamily)?.cursor, try cache.knownLog())
        #expect(before == after, sourceLocation: sourceLocation)
    }

    var size: Int64? { get throws { try cache.knownLog()?.checkpoint.size } }
}

@Suite("Following the audit log")
struct LogTests {
    private func follow(_ log: ShownLog, pinned: VerifierKey? = nil, _ body: (Follower) async throws -> Void)
        async throws
    {
        try await withFolder { folder in try await body(try Follower(folder, log, pinned: pinned)) }
    }

    @Test("an honest log that grows, or is signed anew, is accepted", arguments: [0, 1, 2, 7, 64])
    func honest(size: Int) async throws {
        try await follow(ShownLog(size)) { device in
            for growth in [0, 1, 1, 5, 64, 0, 200] {
                try await device.sync()
                #expect(try device.cache.knownLog()?.note == device.log.newest)
                device.log.grow(by: growth)
            }
            try await device.sync()
            #expect(try device.size == Int64(size + 271) && device.cache.counts().nags == 8)
        }
    }

    @Test("a server without a log is accepted until it has shown one")
    func none() async throws {
        let log = ShownLog(3)
        try await follow(log) { device in
            try await device.sync(showing: .some(nil))
            #expect(try device.size == nil)
            try await device.sync()
            // One of several servers has just started: the log itself is asked.
            try await device.sync(showing: .some(nil))
            log.hide()
            try await device.expectRefusal(.checkpointMissing)
        }
    }

    @Test("a log that lost entries is refused, also if it has others since")
    func shrunk() async throws {
        try await follow(ShownLog(9)) { device in
            try await device.sync()
            device.log.cut(to: 5)
            try await device.expectRefusal(.shrunk(from: 9, to: 5))
            device.log.cut(to: 0)
            try await device.expectRefusal(.shrunk(from: 9, to: 0))
            device.log.grow(by: 9)
            device.log.rewrite(6)
            try await device.expectRefusal(.rewritten(size: 9))
            device.log.grow(by: 20)
            try await device.expectRefusal(.rewritten(size: 9))
            #expect(try device.size == 9)
        }
    }

    @Test("a log with a rewritten past is refused, at the same size and at a larger one")
    func forked() async throws {
        try await follow(ShownLog(9)) { device in
            try await device.sync()
            device.log.rewrite(2)
            try await device.expectRefusal(.rewritten(size: 9))
            device.log.grow(by: 4)
            try await device.expectRefusal(.rewritten(size: 9))
        }
    }

    @Test("a checkpoint that is a moment behind is accepted, and one of another past refused")
    func behind() async throws {
        try await follow(ShownLog(4)) { device in
            let early = try #require(device.log.newest)
            device.log.grow(by: 5)
            try await device.sync()
            let later = try #require(device.log.newest)
            device.log.grow(by: 5)
            try await device.sync(showing: early)
            #expect(try device.size == 14, "the newest was asked for")
            try await device.sync(showing: later)
            let forked = ShownLog(6)
            forked.rewrite(1)
            try await device.expectRefusal(.rewritten(size: 6), showing: forked.newest)
        }
    }

    @Test("a log's checkpoints are accepted from the first or pinned key, and from those it handed over to")
    func keys() async throws {
        try await follow(ShownLog(3)) { device in
            try await device.sync()
            #expect(try device.cache.knownLog()?.isPinned == false)
            device.log.rotate(to: 2, handingOver: true)
            try await device.sync()
            #expect(try device.cache.knownLog()?.keys == [ShownLog.key(1).verifier, ShownLog.key(2).verifier])
            device.log.grow(by: 3)
            device.log.rotate(to: 3, handingOver: false)
            try await device.expectRefusal(.unsigned(origin: "log.example"))
        }
        try await follow(ShownLog(3), pinned: ShownLog.key(1).verifier) { device in
            device.log.rotate(to: 2, handingOver: true)
            try await device.sync()
            #expect(try device.cache.knownLog()?.isPinned == true)
        }
        try await follow(ShownLog(3), pinned: ShownLog.key(9).verifier) { device in
            try await device.expectRefusal(.unsigned(origin: "log.example"))
        }
    }

    @Test("another log's checkpoint, and a text that is none, is refused")
    func foreign() async throws {
        try await follow(ShownLog(3)) { device in
            try await device.sync()
            try await device.expectRefusal(
                .otherLog(known: "log.example", shown: "new.example"),
                showing: ShownLog(30, origin: "new.example").newest)
            // The same name with another key, as after somebody made the keys anew.
            try await device.expectRefusal(.unsigned(origin: "log.example"), showing: ShownLog(30, seed: 7).newest)
            for text in ["", "log.example\n3\n", "x\n\n— log.example AAAA\n"] {
                try await device.expectRefusal(.unreadable, showing: text)
            }
            device.log.grow(by: 1)
            try await device.sync()
        }
    }

    @Test("an outbox keeps its items while the log is not trusted")
    func outbox() async throws {
        try await withFolder { folder in
            let log = ShownLog(4)
            let device = try Follower(folder, log)
            try await device.sync()
            let outbox = try Outbox(path: folder + "/outbox.db", seal: .test)
            try outbox.add(
                OutboxItem(
                    clientID: InputID(high: 3, low: 1), nagID: NagID(high: 1, low: 1), act: .note(text: "n"),
                    madeAt: start), of: homeFamily)
            let source = ScriptedSource(pages: { _, _ in page(cursor: "b", checkpoint: log.newest) }, log: log)
            let service = SyncService(cache: device.cache, outbox: outbox, source: source, now: { start })
            log.rewrite(1)
            await #expect(throws: LogFault.rewritten(size: 4)) { try await service.run(homeFamily) }
            #expect(try source.uploads.isEmpty && outbox.totalWaitingCount() == 1)
        }
    }

    @Test("a log that one process has seen is not forgotten by a slower one")
    func severalProcesses() async throws {
        try await withFolder { folder in
            let log = ShownLog(4)
            let (slow, fast) = (try Follower(folder, log), try Follower(folder, log))
            try await slow.sync()
            log.grow(by: 4)
            try await fast.sync()
            try await slow.sync()
            #expect(try slow.size == 8)
        }
    }
}
