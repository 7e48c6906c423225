/// One operation of the server: a method, a path template and a handler.
///
/// A template consists of literal segments and `{name}` parameters: `/api/v1/nags/{nag_id}`.
public final class Route: Sendable {
    /// The handler of a route.
    public enum Handler: Sendable {
        /// Runs synchronously on the loop, without a task: it MUST NOT block or compute for long.
        case immediate(@Sendable (borrowing Request) -> Response)
        /// Runs in a task on the loop.
        case async(@Sendable (Request) async -> Response)
    }

    /// A `{name}` of the template and the index of its path segment.
    public struct Parameter: Sendable, Hashable {
        public let name: String
        public let segmentIndex: Int
    }

    public let method: Method
    public let template: String
    /// The index by which the application's observer identifies the route; nil if the application gave it none.
    public let observerIndex: Int?
    /// The maximum number of bytes of content; nil for the server's limit.
    public let bodyLimit: Int?
    public let handler: Handler
    public let parameters: [Parameter]
    let segments: [Segment]

    enum Segment: Hashable {
        case literal(String)
        case parameter
    }

    public init(
        _ method: Method, _ template: String, observerIndex: Int? = nil, bodyLimit: Int? = nil, handler: Handler
    ) {
        self.method = method
        self.template = template
        self.observerIndex = observerIndex
        self.bodyLimit = bodyLimit
        self.handler = handler
        var segments: [Segment] = []
        var parameters: [Parameter] = []
        for part in template.split(separator: "/") {
            if part.hasPrefix("{"), part.hasSuffix("}") {
                let name = String(part.dropFirst().dropLast())
                parameters.append(Parameter(name: name, segmentIndex: segments.count))
                segments.append(.parameter)
            } else {
                segments.append(.literal(String(part)))
            }
        }
        self.segments = segments
        self.parameters = parameters
    }

    public convenience init(
        _ method: Method, _ template: String, bodyLimit: Int? = nil,
        _ handler: @escaping @Sendable (Request) async -> Response
    ) {
        self.init(method, template, bodyLimit: bodyLimit, handler: .async(handler))
    }

    public static func immediate(
        _ method: Method, _ template: String, bodyLimit: Int? = nil,
        _ handler: @escaping @Sendable (borrowing Request) -> Response
    ) -> Route {
        Route(method, template, bodyLimit: bodyLimit, handler: .immediate(handler))
    }
}
