import JSON

/// One page of a list, with what a client needs to ask for the next.
public struct Page<Item: Sendable>: Sendable {
    public var items: [Item]
    /// How many there are over all pages.
    public var total: Int
    public var limit: Int
    public var offset: Int

    public init(items: [Item], total: Int, limit: Int, offset: Int) {
        self.items = items
        self.total = total
        self.limit = limit
        self.offset = offset
    }

    /// The page that answers a request.
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
    /// A page whose items the closure writes itself, one value after the other, straight from the rows of a database.
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

/// Which page of a list is asked for.
public struct PageRequest: Hashable, Sendable {
    /// 1…200. Without a limit a client gets 200: one of the public clients never pages.
    public let limit: Int
    /// 0…2,147,483,647.
    public let offset: Int

    public static let largestLimit = 200
    public static let largestOffset = 2_147_483_647

    /// Both are brought into their bounds.
    public init(limit: Int = largestLimit, offset: Int = 0) {
        self.limit = min(max(limit, 1), Self.largestLimit)
        self.offset = min(max(offset, 0), Self.largestOffset)
    }
}

extension PageRequest: WireParameters {
    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        let limit = try parameters.limit(default: Self.largestLimit)
        let offset = try parameters.optionalInteger("offset") ?? 0
        guard (0...Self.largestOffset).contains(offset) else {
            throw InvalidInput("must be 0 to \(Self.largestOffset)", field: "offset")
        }
        self.init(limit: limit, offset: offset)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("limit", limit)
        parameters.query("offset", offset)
    }
}
