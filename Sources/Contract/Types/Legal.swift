import JSON

/// A legal document with its version.
public struct LegalDocument: Hashable, WireObject {
    public var title: String
    public var version: String
    public var effectiveDate: String
    public var content: String

    public init(title: String, version: String, effectiveDate: String, content: String) {
        self.title = title
        self.version = version
        self.effectiveDate = effectiveDate
        self.content = content
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        title = try fields.required("title")
        version = try fields.required("version")
        effectiveDate = try fields.required("effective_date")
        content = try fields.required("content")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("title", title)
            json.field("version", version)
            json.field("effective_date", effectiveDate)
            json.field("content", content)
        }
    }
}
