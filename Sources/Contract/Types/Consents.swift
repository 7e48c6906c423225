import Domain
import JSON

/// The request that revokes a consent.
public struct ConsentUpdate: Hashable, WireObject {
    /// Whether to revoke the consent. False changes nothing, and is refused for a consent that is revoked already.
    public var isRevoked: Bool

    public init(isRevoked: Bool = false) {
        self.isRevoked = isRevoked
    }

    /// Accepts `{"revoked": true}` or `{"status": "revoked"}`.
    public init(_ fields: FieldReader) throws(InvalidInput) {
        if let revoked: Bool = try fields.optional("revoked") {
            isRevoked = revoked
            return
        }
        guard let status: String = try fields.optional("status") else {
            throw .revokedIsRequired
        }
        guard status == "revoked" else {
            throw .statusCanOnlyBeRevoked
        }
        isRevoked = true
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("revoked", isRevoked)
        }
    }
}
