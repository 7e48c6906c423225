import Domain
import JSON

/// A ticket that opens one WebSocket, in place of the access token in its address.
public struct SocketTicket: Hashable, WireObject {
    public var ticket: Secret
    /// Seconds until it opens none any more.
    public var expiresIn: Int

    public init(ticket: Secret, expiresIn: Int) {
        self.ticket = ticket
        self.expiresIn = expiresIn
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        ticket = try fields.required("ticket")
        expiresIn = try fields.required("expires_in")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("ticket", ticket)
            json.field("expires_in", expiresIn)
        }
    }
}
