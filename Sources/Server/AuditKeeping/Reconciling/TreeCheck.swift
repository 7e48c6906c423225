import Audit
import Domain
import Postgres
import SQL

/// Recomputes the Merkle tree from its leaves and compares it with the stored hashes and the newest checkpoint.
struct TreeCheck {
    private static let pageSize: Int64 = 1_024

    let database: Database
    let keys: AuditKeyring

    /// - Parameter pause: called after each page of leaves with their number, and before that between pages of
    ///   checkpoints with the number of those checked; throws to cancel the check.
    func run(pause: (_ count: Int) async throws -> Void = { _ in }) async throws -> StateReport {
        var report = StateReport()
        guard let text: String = try await database.query(LogStatements.newestCheckpoint).first?["note"] else {
            return report
        }
        let foreignCheckpoint = try await CheckpointCheck(database, keys).firstForeignCheckpoint {
            if $0 > 0, $0.isMultiple(of: LogStatements.checkpointPageSize) { try await pause($0) }
        }
        if let foreignCheckpoint {
            report.add(Self.makeFinding("\(foreignCheckpoint.position ?? 0)", foreignCheckpoint.code))
        }
        guard let note = SignedNote(text),
            let checkpoint = TrustedKeys(pinned: keys.signingKeys.map(\.verifier)).checkpoint(in: note)
        else {
            if foreignCheckpoint == nil { report.add(Self.makeFinding("checkpoint", "untrusted_checkpoint")) }
            return report
        }
        guard var frontier = TileFrontier(size: 0, NodeStore()) else { return report }
        while frontier.size < checkpoint.size {
            let leaves = frontier.size..<min(frontier.size + Self.pageSize, checkpoint.size)
            if let finding = try await grow(&frontier, by: leaves) {
                report.add(finding)
                return report
            }
            report.comparedCount += Int64(leaves.count)
            try await pause(leaves.count)
        }
        if frontier.root != checkpoint.root { report.add(Self.makeFinding("\(checkpoint.size)", "root_differs")) }
        return report
    }

    /// Adds leaves to the tree, and compares the hashes that they complete with the stored ones.
    /// - Returns: the first finding; nil if there is none.
    private func grow(_ frontier: inout TileFrontier, by leaves: Range<Int64>) async throws -> StateFinding? {
        var runs = [NodeRun(level: 0, positions: leaves)]
        for level in 1..<Tile.levelCount {
            let positions =
                Tile.nodeCount(
                    level: level, size: leaves.lowerBound)..<Tile.nodeCount(level: level, size: leaves.upperBound)
            if !positions.isEmpty { runs.append(NodeRun(level: level, positions: positions)) }
        }
        let store = try NodeStore(await database.query(LogStatements.nodes(runs)))
        for position in leaves {
            guard let leaf = store[0, position] else { return Self.makeFinding("\(position)", "missing_entry") }
            for node in frontier.append(leaf) where node.level > 0 && store[node.level, node.position] != node.hash {
                return Self.makeFinding("\(position)", "node_differs")
            }
        }
        return nil
    }

    /// - Parameter code: the fault, as the verifiers name it.
    private static func makeFinding(_ position: String, _ code: String) -> StateFinding {
        var finding = StateFinding(.log, position, .broken, family: nil)
        finding.found = code
        return finding
    }
}
