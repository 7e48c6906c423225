import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Exports an audit log as lines: one family's by number, or all families' in the order of the Merkle log.
///
/// An export shows the log as of one checkpoint, which it reads first; later entries have no position yet. Entries
/// never move, so an interrupted export can continue after a number or a position.
struct AuditLogExport {
    /// The minimum number of entries between two exported checkpoints; the newest one is always exported.
    private static let minCheckpointDistance: Int64 = 256

    private let queries: any Queries
    private let sealing: Sealing
    private let reader: LogReader
    private let cooperativeYield: CooperativeYield

    init(_ queries: any Queries, _ sealing: Sealing, on poller: Poller) {
        cooperativeYield = CooperativeYield(poller: poller)
        self.queries = queries
        self.sealing = sealing
        reader = LogReader(queries)
    }

    /// Calls `emit` with the lines, a page at a time.
    /// - Parameters:
    ///   - family: the family to export; nil for all.
    ///   - after: the number of the family's entry, or the position in the log, after which the export continues
    ///     without the header; nil for the beginning.
    ///   - origin: the log's name, for the header.
    ///   - now: the time of the export, for the header.
    func run(
        of family: FamilyID?, after: Int64?, origin: String, at now: Timestamp,
        _ emit: ([AuditExportLine]) async throws -> Void
    ) async throws {
        let newest = try await reader.newestUnverifiedCheckpoint()
        let size = newest?.checkpoint.size ?? 0
        if after == nil { try await emit(try await firstLines(of: family, origin, now)) }
        var count: (entries: Int, clocks: Int)
        if let family {
            // Numbers begin with 1. Rows with lower ones are exported as well, for verifiers to find.
            count = try await exportChain(of: family, after: after ?? .min, size: size, newest?.note, emit)
        } else {
            count = (try await exportLog(after: min(after ?? -1, size - 1), size: size, emit), 0)
            let rest = try await exportUnsequencedEntries(size: size, emit)
            count = (count.entries + rest.entries, rest.clocks)
            if let newest { try await emit([.checkpoint(note: newest.note)]) }
        }
        try await emit([.end(entries: count.entries, clocks: count.clocks)])
    }

    /// Returns the header, with the keys of the log, and the notes of prunes.
    private func firstLines(
        of family: FamilyID?, _ origin: String, _ now: Timestamp
    ) async throws -> [AuditExportLine] {
        let keys = try await queries.query(LogStatements.keys).map { row throws(PostgresError) in
            AuditKey(verifier: try row["verifier"], handover: try row["handover"])
        }
        let header = AuditExportLine.Header(origin: origin, familyID: family, madeAt: now, keys: keys)
        let prunes = try await queries.query(ExportStatements.newestPrunes(of: family)).map {
            row throws(PostgresError) in
            AuditExportLine.prune(note: try row["note"])
        }
        return [.header(header)] + prunes
    }

    // MARK: One family

    /// Exports a family's entries after a number, and its clock. With a checkpoint it also exports the checkpoint, and
    /// the inclusion proof of the family's newest entry that it covers, if there is one.
    /// - Parameters:
    ///   - size: the number of leaves that the checkpoint covers; 0 without one.
    ///   - note: the signed note of the checkpoint; nil without one.
    /// - Returns: the number of entries and of clocks.
    private func exportChain(
        of family: FamilyID, after: Int64, size: Int64, _ note: String?,
        _ emit: ([AuditExportLine]) async throws -> Void
    ) async throws -> (entries: Int, clocks: Int) {
        let newest = try await queries.query(ExportStatements.newestNumberAndClock(of: family)).onlyRow()
        let last: Int64 = try newest["n"]
        let clock = try clockLine(family, newest["seq"], newest["head"])
        var (number, count) = (after, 0)
        while number < last {
            let rows = try await queries.query(
                ExportStatements.entries(of: family, after: number, upTo: last, size: size))
            guard rows.count > 0 else { break }
            try await emit(try await lines(rows) { try $0["position"] })
            number = try rows[rows.count - 1]["n"]
            count += rows.count
        }
        if let clock { try await emit([clock]) }
        guard let note else { return (count, clock == nil ? 0 : 1) }
        var lines = [AuditExportLine.checkpoint(note: note)]
        if let row = try await queries.query(ExportStatements.newestLeaf(of: family, size: size)).first {
            let position: Int64 = try row["position"]
            let number: Int64 = try row["n"]
            // Where a hash is missing the path does not lead to the root: the verifier reports that.
            let path = try await reader.inclusionPath(of: family, number, size: size) ?? []
            let leaf = AuditExportLine.LeafPosition(
                position: Int(position), familyID: family, n: Int(number), hash: try HexDigest(column: try row["hash"]))
            lines.append(.inclusion(leaf, size: Int(size), path: path.compactMap { HexDigest(bytes: $0) }))
        }
        try await emit(lines)
        return (count, clock == nil ? 0 : 1)
    }

    /// Returns the line of a family's clock; nil for a family without one.
    private func clockLine(_ family: FamilyID, _ number: Int64?, _ head: [UInt8]?) -> AuditExportLine? {
        guard let number, let digest = head.flatMap({ HexDigest(bytes: $0) }) else { return nil }
        return .clock(family, n: Int(number), head: digest)
    }

    // MARK: All families

    /// Exports the leaves from a position on to the newest checkpoint, with their entries, the subtrees that they
    /// complete, and some of the checkpoints between.
    /// - Parameters:
    ///   - after: the position of the leaf before the first one.
    ///   - size: the number of leaves that the newest checkpoint covers.
    /// - Returns: the number of entries.
    private func exportLog(
        after: Int64, size: Int64, _ emit: ([AuditExportLine]) async throws -> Void
    ) async throws -> Int {
        var (position, count, lastCheckpointSize) = (after, 0, max(after + 1, 0))
        while position < size - 1 {
            let rows = try await queries.query(ExportStatements.leaves(after: position, size: size))
            guard rows.count > 0 else { break }
            let first: Int64 = position + 1
            let end: Int64 = try rows[rows.count - 1]["position"] + 1
            let nodes = try await nodeLines(first..<end)
            let notes = try await queries.query(ExportStatements.newestCheckpointPerSize(above: first, upTo: end))
            var nextNoteIndex = 0
            var lines: [AuditExportLine] = []
            for (index, row) in rows.enumerated() {
                await cooperativeYield.yieldIfDue(after: index)
                let leafPosition: Int64 = try row["position"]
                lines.append(try leafLine(row, at: leafPosition))
                if case .entry(let entry) = lines[lines.count - 1] {
                    count += 1
                    lines += try differingLeaf(entry, row, at: leafPosition)
                }
                lines += nodes[leafPosition] ?? []
                while nextNoteIndex < notes.count, case let checkpointSize:Int64 = try notes[nextNoteIndex]["size"],
                    checkpointSize <= leafPosition + 1
                {
                    if checkpointSize == leafPosition + 1, checkpointSize < size,
                        checkpointSize - lastCheckpointSize >= Self.minCheckpointDistance
                    {
                        lines.append(.checkpoint(note: try notes[nextNoteIndex]["note"]))
                        lastCheckpointSize = checkpointSize
                    }
                    nextNoteIndex += 1
                }
            }
            try await emit(lines)
            position = end - 1
        }
        return count
    }

    /// Exports the entries without a position, family by family, each family with the state of its clock at that time.
    /// - Returns: the number of entries and clocks.
    private func exportUnsequencedEntries(
        size: Int64, _ emit: ([AuditExportLine]) async throws -> Void
    ) async throws -> (entries: Int, clocks: Int) {
        var (count, last) = ((entries: 0, clocks: 0), FamilyID?.none)
        while true {
            let rows = try await queries.query(ExportStatements.clocksAndUnsequencedEntries(after: last, size: size))
            var index = 0
            while index < rows.count {
                let family: FamilyID = try rows[index]["clock_family"]
                let clock = try clockLine(family, rows[index]["clock"], rows[index]["head"])
                var (lines, number): ([AuditExportLine], Int64) = ([], 0)
                while index < rows.count, try rows[index]["clock_family"] == family {
                    await cooperativeYield.yieldIfDue(after: index)
                    if let next: Int64 = try rows[index]["n"] {
                        lines.append(try entryLine(rows[index], position: nil))
                        number = next
                    }
                    index += 1
                }
                count.entries += lines.count
                try await emit(lines)
                if lines.count >= ExportStatements.unsequencedEntriesPerFamily {
                    count.entries += try await exportEntriesWithoutPosition(
                        of: family, after: number, upTo: clock?.newestSequenceNumber ?? .max, emit)
                }
                if let clock {
                    try await emit([clock])
                    count.clocks += 1
                }
                last = family
            }
            if rows.count == 0 { return count }
        }
    }

    /// Exports the entries of one family after a number, which have no position.
    /// - Returns: their number.
    private func exportEntriesWithoutPosition(
        of family: FamilyID, after: Int64, upTo last: Int64, _ emit: ([AuditExportLine]) async throws -> Void
    ) async throws -> Int {
        var (number, count) = (after, 0)
        while number < last {
            let rows = try await queries.query(
                ExportStatements.entries(of: family, after: number, upTo: last, size: 0))
            guard rows.count > 0 else { break }
            try await emit(try await lines(rows) { _ in nil })
            number = try rows[rows.count - 1]["n"]
            count += rows.count
        }
        return count
    }

    /// Returns the lines of the rows, with the positions that the closure returns.
    private func lines(_ rows: Rows, at position: (Row) throws -> Int64?) async throws -> [AuditExportLine] {
        var lines: [AuditExportLine] = []
        for (index, row) in rows.enumerated() {
            await cooperativeYield.yieldIfDue(after: index)
            lines.append(try entryLine(row, position: try position(row)))
        }
        return lines
    }

    /// Returns the roots of the subtrees that each of the leaves completes, by leaf.
    private func nodeLines(_ leaves: Range<Int64>) async throws -> [Int64: [AuditExportLine]] {
        let runs = (1..<Tile.levelCount).map { level in
            NodeRun(
                level: level,
                positions: Tile.nodeCount(
                    level: level, size: leaves.lowerBound)..<Tile.nodeCount(level: level, size: leaves.upperBound))
        }.filter { !$0.positions.isEmpty }
        guard !runs.isEmpty else { return [:] }
        let store = try NodeStore(await queries.query(LogStatements.nodes(runs)))
        var lines: [Int64: [AuditExportLine]] = [:]
        for run in runs {
            for position in run.positions {
                guard let hash = store[run.level, position].flatMap({ HexDigest(bytes: $0) }) else { continue }
                let leaf = (position + 1) << Int64(8 * run.level) - 1
                lines[leaf, default: []].append(.node(level: run.level, position: Int(position), hash: hash))
            }
        }
        return lines
    }

    /// Returns the line of a leaf that does not match its entry, for verifiers to find; none where it matches.
    private func differingLeaf(
        _ entry: AuditExportLine.Entry, _ row: Row, at position: Int64
    ) throws -> [AuditExportLine] {
        let leaf = LogLeaf(family: entry.familyID, number: Int64(entry.n), entryHash: entry.hash.bytes)
        let storedHash = try HexDigest(column: try row["leaf_hash"])
        return storedHash.bytes == leaf.hash ? [] : [.node(level: 0, position: Int(position), hash: storedHash)]
    }

    /// Returns the line of the entry at a leaf; the line of the leaf itself if its entry is missing.
    private func leafLine(_ row: Row, at position: Int64) throws -> AuditExportLine {
        if (try row["n"] as Int64?) != nil { return try entryLine(row, position: position) }
        return .leaf(
            AuditExportLine.LeafPosition(
                position: Int(position), familyID: try row["leaf_family"], n: try row["leaf_n"],
                hash: try HexDigest(column: try row["leaf_hash"])))
    }

    /// Returns the line of an entry. `position` is nil if the exported checkpoint does not cover it.
    private func entryLine(_ row: Row, position: Int64?) throws -> AuditExportLine {
        let at: Timestamp = try row["at"]
        var entry = AuditExportLine.Entry(
            familyID: try row["family_id"], n: try row["n"], atMicroseconds: Int(at.microseconds),
            kind: try row["kind"], actor: try row["actor"], subject: try row["subject"],
            resourceID: try row["resource"], traceID: try row["trace"], requestID: try row["request"],
            commitment: try HexDigest(column: try row["commit"]), previous: try HexDigest(column: try row["prev"]),
            hash: try HexDigest(column: try row["hash"]), position: position.map { Int($0) }, bodyState: "erased",
            salt: nil, body: nil)
        switch try sealing.openBody(of: row) {
        case .whole(let salt, let body):
            (entry.bodyState, entry.salt, entry.body) = ("whole", HexDigest(bytes: salt), hexadecimal(body))
        case .unreadable: entry.bodyState = "unreadable"
        case .erased: break
        }
        return .entry(entry)
    }
}

extension AuditExportLine {
    /// The sequence number of the family's newest entry, in a `clock` line; nil for another line.
    fileprivate var newestSequenceNumber: Int64? {
        if case .clock(_, let n, _) = self { Int64(n) } else { nil }
    }
}
