import Domain
import JSON

/// A notification about an event of a nag.
public struct DeliveryResponse: Hashable, WireObject {
    public var id: DeliveryID
    public var nagEventID: EventID
    public var channel: DeliveryChannel
    public var status: DeliveryStatus
    /// The provider's name for the message; nil until it was sent.
    public var providerRef: String?

    public init(
        id: DeliveryID, nagEventID: EventID, channel: DeliveryChannel, status: DeliveryStatus, providerRef: String?
    ) {
        self.id = id
        self.nagEventID = nagEventID
        self.channel = channel
        self.status = status
        self.providerRef = providerRef
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        nagEventID = try fields.required("nag_event_id")
        channel = try fields.required("channel")
        status = try fields.required("status")
        providerRef = try fields.optional("provider_ref")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("nag_event_id", nagEventID)
            json.field("channel", channel)
            json.field("status", status)
            json.field("provider_ref", providerRef)
        }
    }
}
