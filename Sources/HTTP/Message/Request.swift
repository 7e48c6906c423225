/// One complete request, which a handler receives.
public struct Request: Sendable {
    public let head: RequestHead
    /// The content, without the framing of chunks; empty if there is none.
    public let body: [UInt8]
    /// The client: the peer of the connection, or the client that trusted proxies name.
    public let clientAddress: RemoteAddress
    public let id: RequestID
    public let trace: TraceContext
    /// The matching route; nil if there is none.
    public let route: Route?

    public init(
        head: RequestHead, body: [UInt8], clientAddress: RemoteAddress, id: RequestID, trace: TraceContext,
        route: Route?
    ) {
        self.head = head
        self.body = body
        self.clientAddress = clientAddress
        self.id = id
        self.trace = trace
        self.route = route
    }

    public var method: Method { head.method }
    public var headers: Headers { head.headers }
    public var query: Query { head.query }
    /// The decoded path. A `%2F` inside a segment appears as `/`.
    public var path: String { head.path }

    /// Returns the decoded path segment of the template's parameter `{name}`; nil if the template has no such
    /// parameter.
    public func parameter(_ name: String) -> String? {
        guard let route else { return nil }
        for parameter in route.parameters where parameter.name == name {
            return head.pathSegment(parameter.segmentIndex)
        }
        return nil
    }

    /// Returns the token of `Authorization: Bearer …` (RFC 6750 §2.1); nil without such a field.
    /// - Throws: `fieldRepeated` if there are several Authorization fields.
    public func bearerToken() throws(HTTPRequestError) -> String? {
        guard let range = try headers.singleRange("authorization") else { return nil }
        let value = head.bytes.span.extracting(range.indices)
        guard value.count > 7, value.extracting(0..<7).equalsIgnoringCase("bearer ") else { return nil }
        var start = 7
        while start < value.count, value[start] == UInt8(ascii: " ") { start += 1 }
        return String(lossy: value.extracting(start..<value.count))
    }
}
