import Contract
import Domain
import Postgres

/// The stored result of an input, with the fingerprint of the input.
struct StoredInputResult {
    let id: InputID
    /// The result of an input; nil for an imported item.
    private let result: InputResult?
    /// The fingerprint of the item of an outbox or import; nil for an input of a request.
    let fingerprint: [UInt8]?
    /// The import and the draft of an imported item; nil for other inputs.
    let importedItem: (importID: ImportID, draftID: DraftID)?
    /// The imports whose content of the item a later import has changed.
    private let earlierImports: [ImportID]

    init(_ row: Row) throws(PostgresError) {
        id = try row["id"]
        fingerprint = try row["fingerprint"]
        earlierImports = try row.list("earlier_imports") ?? []
        let (importID, draftID): (ImportID?, DraftID?) = (try row["import_id"], try row["draft_id"])
        if let importID, let draftID {
            (result, importedItem) = (nil, (importID, draftID))
            return
        }
        let (outcome, code, message): (String, String?, String?) = (
            try row["outcome"], try row["code"], try row["message"]
        )
        guard let outcome = InputOutcome(rawValue: outcome) else { throw .unexpectedShape("outcome") }
        let (reason, opensAt): (String?, Timestamp?) = (try row["reason"], try row["opens_at"])
        let refusal = code.flatMap(ErrorCode.init).map {
            InputRefusal(code: $0, message: message ?? "", reason: reason, opensAt: opensAt)
        }
        result = InputResult(
            clientID: id, outcome: outcome, eventID: try row["event_id"], draftID: draftID, error: refusal)
        importedItem = nil
    }

    /// Whether the input was this item with the same content.
    func matches(_ item: ImportItem) -> Bool { fingerprint == IngestionStatements.fingerprint(of: item) }

    /// Whether a later import has changed what that import made of the item.
    func supersedes(_ importID: ImportID) -> Bool { earlierImports.contains(importID) }

    /// Returns the stored result; a refusal if the ID was used for another input.
    func result(for input: Provenance) -> InputResult {
        if let result, fingerprint == input.fingerprint { return result }
        return InputResult(
            clientID: input.id, outcome: .refused, eventID: nil,
            error: InputRefusal(.inputIDWasUsed))
    }
}
