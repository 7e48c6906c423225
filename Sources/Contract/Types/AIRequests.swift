import Domain
import JSON

/// Asks for a summary and a category of an excuse.
public struct ExcuseSummaryRequest: Hashable, WireObject {
    public var text: String
    public var nagID: NagID

    public init(text: String, nagID: NagID) {
        self.text = text
        self.nagID = nagID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        text = try fields.text("text", 1...2000)
        nagID = try fields.required("nag_id")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("text", text)
            json.field("nag_id", nagID)
        }
    }
}

/// Asks which tone suits a nag's recipient now.
public struct ToneSelectRequest: Hashable, WireObject {
    public var nagID: NagID

    public init(nagID: NagID) {
        self.nagID = nagID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        nagID = try fields.required("nag_id")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("nag_id", nagID)
        }
    }
}

/// Asks for a tip about a nag.
public struct CoachingRequest: Hashable, WireObject {
    public var nagID: NagID

    public init(nagID: NagID) {
        self.nagID = nagID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        nagID = try fields.required("nag_id")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("nag_id", nagID)
        }
    }
}

/// Asks whether to push back on an overdue nag, and does so within the family's bounds.
public struct PushBackRequest: Hashable, WireObject {
    public var nagID: NagID

    public init(nagID: NagID) {
        self.nagID = nagID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        nagID = try fields.required("nag_id")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("nag_id", nagID)
        }
    }
}
