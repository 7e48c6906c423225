/// One operation of the server: a method, a path template, and what answers it.
///
/// A template is literal segments and `{name}` parameters: `/api/v1/nags/{nag_id}`.
public final class Route: Sendable {
    /// How a route is answered.
    public enum Answer: Sendable {
        /// On the loop, at once: no task, so it MUST NOT wait or compute for long.
        case immediate(@Sendable (borrowing Request) -> Response)
        /// In a task on the loop.
        case async(@Sendable (Request) async -> Response)
    }

    /// A `{name}` of the template and the path segment it stands for.
    public struct Parameter: Sendable, Hashable {
        public let name: String
        public let segment: Int
    }

    public let method: Method
    public let template: String
    /// What the application calls the route by, told to the observer.
    public let number: Int?
    /// Bytes of content, when other than the server's limit.
    public let bodyLimit: Int?
    public let answer: Answer
    public let parameters: [Parameter]
    let segments: [Segment]

    enum Segment: Hashable {
        case literal(String)
        case parameter
    }

    public init(_ method: Method, _ template: String, number: Int? = nil, bodyLimit: Int? = nil, answer: Answer) {
        self.method = method
        self.template = template
        self.number = number
        self.bodyLimit = bodyLimit
        self.answer = answer
        var segments: [Segment] = []
        var parameters: [Parameter] = []
        for part in template.split(separator: "/") {
            if part.hasPrefix("{"), part.hasSuffix("}") {
                parameters.append(Parameter(name: String(part.dropFirst().dropLast()), segment: segments.count))
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
        _ answer: @escaping @Sendable (Request) async -> Response
    ) {
        self.init(method, template, bodyLimit: bodyLimit, answer: .async(answer))
    }

    public static func immediate(
        _ method: Method, _ template: String, bodyLimit: Int? = nil,
        _ answer: @escaping @Sendable (borrowing Request) -> Response
    ) -> Route {
        Route(method, template, bodyLimit: bodyLimit, answer: .immediate(answer))
    }
}
