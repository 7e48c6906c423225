import JSON

/// One page of a list, with its position in the list.
public struct Page<Item: Sendable>: Sendable {
    public var items: [Item]
    /// The number of items on all pages.
    public var total: Int
    public var limit: Int
    public var offset: Int

    public init(items: [Item], total: Int, limit: Int, offset: Int) {
        self.items = items
        self.total = total
        self.limit = limit
        self.offset = offset
    }

    /// Creates the page for a request.
    public init(items: [Item], total: Int, answering request: PageRequest) {
        self.init(items: items, total: total, limit: request.limit, offset: request.offset)
    }
}

extension Page: Equatable where Item: Equatable {}

extension Page: WireReadable, WireInput where Item: WireReadable {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        items = try fields.required("items")
        total = try fields.required("total")
        limit = try fields.required("limit")
        offset = try fields.required("offset")
    }
}

extension Page: WireOutput where Item: WireOutput {
    public func write(to json: inout JSONWriter) {
        json.page(total: total, answering: PageRequest(limit: limit, offset: offset)) { json in
            for item in items { item.write(to: &json) }
        }
    }
}

extension JSONWriter {
    /// Writes a page. The closure writes the items one after another, directly from database rows.
    public mutating func page<Failure>(
        total: Int, answering request: PageRequest, items: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        try object { json throws(Failure) in
            json.key("items")
            try json.array(items)
            json.field("total", total)
            json.field("limit", request.limit)
            json.field("offset", request.offset)
        }
    }
}

/// The position and size of a page.
public struct PageRequest: Hashable, Sendable {
    /// The size of the page, 1…200. The default is 200, because one of the public clients never requests a second page.
    public let limit: Int
    /// The number of items before the page, 0…2,147,483,647.
    public let offset: Int

    public static let maxLimit = 200
    public static let maxOffset = 2_147_483_647

    /// Creates a request with both values clamped. A response repeats the clamped values.
    public init(limit: Int = maxLimit, offset: Int = 0) {
        self.limit = min(max(limit, 1), Self.maxLimit)
        self.offset = min(max(offset, 0), Self.maxOffset)
    }
}

extension PageRequest: WireParameters {
    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        self.init(
            limit: try parameters.limit(default: Self.maxLimit),
            offset: try parameters.optionalInteger("offset") ?? 0)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("limit", limit)
        parameters.query("offset", offset)
    }
}
