import Domain
import JSON

/// The request that revokes a consent.
public struct ConsentUpdate: Hashable, WireObject {
    public var revoked: Bool

    public init(revoked: Bool = false) {
        self.revoked = revoked
    }

    /// Accepts `{"revoked": true}` or `{"status": "revoked"}`.
    public init(_ fields: FieldReader) throws(InvalidInput) {
        if let revoked: Bool = try fields.optional("revoked") {
            self.revoked = revoked
            return
        }
        guard let status: String = try fields.optional("status") else {
            throw .revokedIsRequired
        }
        guard status == "revoked" else {
            throw .statusCanOnlyBeRevoked
        }
        revoked = true
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("revoked", revoked)
        }
    }
}
