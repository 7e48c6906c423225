import Audit
import Contract
import Domain
import Postgres
import SQL

/// Reads proofs and tiles of the log from the database.
struct LogReader {
    private let queries: any Queries

    init(_ services: Services) { queries = services.database }
    init(_ queries: any Queries) { self.queries = queries }

    /// Reads the newest checkpoint; nil before the first, and where its note is malformed. Its signatures are not
    /// verified.
    func newestUnverifiedCheckpoint() async throws -> (note: String, checkpoint: Checkpoint)? {
        guard let row = try await queries.query(LogStatements.newestCheckpoint).first else { return nil }
        let text: String = try row["note"]
        guard let note = SignedNote(text), let checkpoint = Checkpoint(text: note.text) else { return nil }
        return (text, checkpoint)
    }

    /// Reads the inclusion proof of an entry in the newest checkpoint; nil while the checkpoint does not cover the
    /// entry, and where a hash is missing.
    func inclusionProof(of family: FamilyID, _ number: Int64) async throws -> InclusionProof? {
        guard let row = try await queries.query(LogStatements.leafOfEntry(family, number)).first,
            let newest = try await newestUnverifiedCheckpoint()
        else { return nil }
        let (position, size): (Int64, Int64) = (try row["position"], newest.checkpoint.size)
        guard position < size else { return nil }
        guard let path = try await proof(MerkleProof.inclusionRanges(position, size: size)) else { return nil }
        return InclusionProof(
            position: Int(position), leaf: try HexDigest(column: try row["hash"]), size: Int(size),
            path: path.compactMap { HexDigest(bytes: $0) }, checkpoint: newest.note)
    }

    /// Reads the path from an entry to the root of the log of that size; nil while the log does not contain the entry,
    /// and where a hash is missing.
    func inclusionPath(of family: FamilyID, _ number: Int64, size: Int64) async throws -> [[UInt8]]? {
        guard let row = try await queries.query(LogStatements.leafOfEntry(family, number)).first else { return nil }
        let position: Int64 = try row["position"]
        return position < size ? try await proof(MerkleProof.inclusionRanges(position, size: size)) : nil
    }

    /// Reads the consistency proof between two sizes of the log; nil where a hash is missing.
    func consistencyProof(from old: Int64, to new: Int64) async throws -> [[UInt8]]? {
        try await proof(MerkleProof.consistencyRanges(from: old, to: new))
    }

    /// Reads a proof: for each range of leaves the root over it; nil where a hash is missing.
    private func proof(_ ranges: [Range<Int64>]) async throws -> [[UInt8]]? {
        let rows = try await queries.query(LogStatements.nodes(ranges.flatMap(NodeRun.runs)))
        return try NodeStore(rows).proof(ranges)
    }

    /// Reads the concatenated hashes of a tile; nil when the log is too small for it, or lacks a hash.
    func bytes(of tile: Tile) async throws -> [UInt8]? {
        let rows = try await queries.query(
            LogStatements.nodes([NodeRun(level: tile.level, positions: tile.positions)]))
        let store = try NodeStore(rows)
        var bytes: [UInt8] = []
        for position in tile.positions {
            guard let hash = store[tile.level, position] else { return nil }
            bytes += hash
        }
        return bytes
    }
}
