import JSON

/// The short answer of an operation that has nothing else to say.
public struct StatusAnswer: Hashable, WireObject {
    public var status: String

    public init(status: String) {
        self.status = status
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        status = try fields.required("status")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("status", status)
        }
    }
}
