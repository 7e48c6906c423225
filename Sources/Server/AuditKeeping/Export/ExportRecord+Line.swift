import Audit
import Contract
import Domain

extension ExportRecord {
    /// Parses a line of an export; nil for unknown and unreadable lines.
    public init?(_ line: AuditExportLine) {
        switch line {
        case .header(let header):
            self = .header(
                Header(
                    origin: header.origin, family: header.familyID, madeAt: header.madeAt,
                    handovers: header.keys.compactMap { $0.handover.flatMap { SignedNote($0) } }))
        case .prune(let note):
            guard let note = SignedNote(note) else { return nil }
            self = .prune(note)
        case .entry(let entry): self.init(entry)
        case .leaf(let leaf): self = .leaf(LogLeafPosition(leaf))
        case .node(let level, let position, let hash):
            self = .node(level: level, position: Int64(position), hash: hash.bytes)
        case .checkpoint(let note):
            guard let note = SignedNote(note) else { return nil }
            self = .checkpoint(note)
        case .inclusion(let leaf, let size, let path):
            self = .inclusion(LogLeafPosition(leaf), size: Int64(size), path: path.map(\.bytes))
        case .consistency(let proof):
            self = .consistency(old: Int64(proof.old), new: Int64(proof.new), path: proof.path.map(\.bytes))
        case .clock(let family, let n, let head): self = .clock(family, number: Int64(n), head: head.bytes)
        case .end(let entries, let clocks): self = .end(entries: Int64(entries), clocks: clocks.map { Int64($0) })
        case .other: return nil
        }
    }

    private init?(_ entry: AuditExportLine.Entry) {
        let act = Audit.AuditEntry.Act(
            kind: entry.kind, actor: entry.actor, subject: entry.subject, resource: entry.resourceID,
            trace: entry.traceID, request: entry.requestID, commitment: entry.commitment.bytes)
        let parsedEntry = Audit.AuditEntry(
            family: entry.familyID, number: Int64(entry.n), at: Timestamp(microseconds: Int64(entry.atMicroseconds)),
            act: act, previous: entry.previous.bytes, hash: entry.hash.bytes)
        let payload: Payload
        switch entry.bodyState {
        case "whole":
            guard let salt = entry.salt, let body = entry.body.flatMap({ bytes(hexadecimal: $0) }) else { return nil }
            payload = .whole(salt: salt.bytes, body: body)
        case "erased": payload = .erased
        case "unreadable": payload = .unreadable
        default: return nil
        }
        self = .entry(parsedEntry, payload, position: entry.position.map { Int64($0) })
    }
}

extension LogLeafPosition {
    init(_ leaf: AuditExportLine.LeafPosition) {
        self.init(
            position: Int64(leaf.position), family: leaf.familyID, number: Int64(leaf.n), hash: leaf.hash.bytes)
    }
}
