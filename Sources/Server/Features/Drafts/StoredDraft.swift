import Audit
import Contract
import Domain
import DomainSQL
import JSON
import Postgres

/// A draft as it is stored: the parts that people see, and the key of its confirmation, which nobody sees.
struct StoredDraft {
    /// The draft with its stored state. `response(at:)` has the state at a moment.
    var response: DraftResponse
    let key: ConfirmationKey?

    init(_ row: Row) throws {
        let kind: DraftKind = try row["kind"]
        let body: JSONObject = try Self.parseJSON(try row["body"])
        guard let body = try? DraftBody(kind, FieldReader(body)) else { throw PostgresError.unexpectedShape("a draft") }
        response = DraftResponse(
            id: try row["id"], familyID: try row["family_id"], nagID: try row["nag_id"], authorID: try row["author_id"],
            source: try row["source"], body: body, contextIDs: try Self.parseJSON(try row["context_ids"]),
            citations: try Self.parseJSON(try row["citations"]), model: try row["model"],
            confidence: try row["confidence"], warnings: try Self.parseJSON(try row["warnings"]),
            progress: DraftProgress(
                state: try row["state"], version: try row["version"], expiresAt: try row["expires_at"],
                endReason: try row["end_reason"]),
            traceID: try row["trace_id"], createdAt: try row["created_at"])
        response.fallbackReason = try row["fallback_reason"]
        response.bodyHash = try row["body_hash"]
        response.editedBy = try row["edited_by"]
        response.editedAt = try row["edited_at"]
        response.rejectedBy = try row["rejected_by"]
        response.rejectedAt = try row["rejected_at"]
        response.approvedBy = try row["approved_by"]
        response.approvedAt = try row["approved_at"]
        response.confirmedAt = try row["confirmed_at"]
        response.executedBy = try row["executed_by"]
        response.executedAt = try row["executed_at"]
        response.resultID = try row["result_id"]
        response.importID = try row["import_id"]
        response.itemID = try row["item_id"]
        response.addresseeID = try row["addressee_id"]
        response.updatedAt = try row["updated_at"]
        let (digest, owner, end): ([UInt8]?, UserID?, Timestamp?) = (
            try row["key_digest"], try row["key_owner"], try row["key_expires_at"]
        )
        if let digest, let owner, let end {
            key = ConfirmationKey(digest: digest, owner: owner, expiresAt: end)
        } else {
            key = nil
        }
    }

    /// Reads a draft; nil for a row of nulls.
    init?(ifAny row: Row) throws {
        guard let _: DraftID = try row["id"] else { return nil }
        try self.init(row)
    }

    private static func parseJSON<Value: WireReadable>(_ text: String) throws -> Value {
        guard let json = try? JSONValue(parsing: Array(text.utf8).span), let value = try? Value(json: json) else {
            throw PostgresError.unexpectedShape("a draft")
        }
        return value
    }

    /// Returns the draft with its state at that moment: it may have expired.
    func response(at now: Timestamp) -> DraftResponse {
        var draft = response
        draft.progress.state = draft.progress.state(at: now)
        return draft
    }
}

extension DraftResponse {
    /// The details of the draft in the audit entry of each of its steps. They contain none of its words.
    var auditDetails: AuditBody {
        var details: AuditBody = [
            "draft": id.description, "kind": kind.rawValue, "version": "\(progress.version)", "model": model,
            "source": source.rawValue, "side_effects": kind.sideEffects.map(\.rawValue).joined(separator: ","),
            "plan": plan.map(\.action.rawValue).joined(separator: ","), "written_by": writer.rawValue,
        ]
        details["body_hash"] = bodyHash
        details["nag"] = nagID?.description
        details["addressee"] = addresseeID?.description
        details["import"] = importID?.description
        if usedFallback { details["fallback_reason"] = fallbackReason }
        if let confidence { details["confidence"] = "\(confidence)" }
        if !citations.isEmpty { details["citations"] = citations.map(\.description).joined(separator: ",") }
        return details
    }
}
