import Domain
import JSON
import NagzAI

extension Grounding: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            persona: try fields.required("persona"), session: try fields.required("session"),
            events: try fields.required("events"))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("persona", persona)
            json.field("session", session)
            json.field("events", events)
        }
    }
}
