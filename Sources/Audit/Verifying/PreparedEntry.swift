import Domain

/// An entry with the hashes and checks that depend on nothing but the entry. They are the costly part of verification:
/// any thread may compute them, before the chains and the log are verified in order.
public struct PreparedEntry: Sendable {
    public let entry: AuditEntry
    public let payload: ExportRecord.Payload
    /// The entry's position in the log; nil while it has none.
    public let position: Int64?
    /// Whether the entry's hash is correct.
    let isUnaltered: Bool
    /// Whether the body matches the entry's commitment; true where there is no body.
    let isBodyUnaltered: Bool
    /// The hash of the entry's leaf in the log.
    let leafHash: [UInt8]

    public init(_ entry: AuditEntry, _ payload: ExportRecord.Payload, position: Int64?) {
        self.entry = entry
        self.payload = payload
        self.position = position
        isUnaltered = entry.hash == entry.expectedHash
        if case .whole(let salt, let body) = payload {
            isBodyUnaltered = AuditBody.commitment(salt: salt, body: body) == entry.act.commitment
        } else {
            isBodyUnaltered = true
        }
        leafHash = LogLeaf(family: entry.family, number: entry.number, entryHash: entry.hash).hash
    }
}
