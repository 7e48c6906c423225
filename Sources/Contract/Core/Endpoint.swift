import JSON

/// An operation with the types of its parameters, body and response. The server decodes parameters and body and encodes
/// the response; the device client does the reverse.
public struct Endpoint<Parameters: WireParameters, Body: WireContent, Answer: WireContent>: Sendable {
    public let operation: Operation

    init(_ operation: Operation) { self.operation = operation }
}

/// The content of a body: a JSON document, text, bytes, or nothing.
public protocol WireContent: Sendable {
    /// Reads the content from the bytes of a body.
    /// - Throws: 400 if the bytes are not JSON, 422 if the JSON does not match.
    init(content bytes: Span<UInt8>) throws(APIError)
    /// The bytes to send; empty for no content.
    var content: [UInt8] { get }
    /// The form of the bytes.
    static var form: ContentForm { get }
}

/// The form of a body's bytes.
public enum ContentForm: Sendable {
    case json, nothing
    /// Text or bytes, which the operation reads itself.
    case other
}

extension WireContent {
    public static var form: ContentForm { .json }
}

/// The body of operations without a request body. A client's body is ignored.
public struct NoBody: WireContent, Hashable {
    public static var form: ContentForm { .nothing }

    public init() {}
    public init(content _: Span<UInt8>) {}
    public var content: [UInt8] { [] }
}

/// The answer of operations that respond with 204.
public struct NoAnswer: WireContent, Hashable {
    public static var form: ContentForm { .nothing }

    public init() {}
    public init(content _: Span<UInt8>) {}
    public var content: [UInt8] { [] }
}

/// Plain text.
public struct PlainText: WireContent, Hashable {
    public static var form: ContentForm { .other }

    public var text: String

    public init(_ text: String) { self.text = text }

    public init(content bytes: Span<UInt8>) throws(APIError) {
        guard let span = try? UTF8Span(validating: bytes) else {
            throw APIError.textIsNotUTF8
        }
        text = String(copying: span)
    }

    public var content: [UInt8] { Array(text.utf8) }
}

extension WireContent where Self: WireReadable {
    public init(content bytes: Span<UInt8>) throws(APIError) { self = try Self(document: bytes) }

    /// Reads a JSON document.
    /// - Throws: 400 if the bytes are not JSON, 422 if the JSON does not match.
    init(document bytes: Span<UInt8>) throws(APIError) {
        guard !bytes.isEmpty else { throw APIError.bodyIsEmpty }
        let json: JSONValue
        do {
            json = try JSONValue(parsing: bytes)
        } catch {
            throw APIError(error)
        }
        do {
            self = try Self(json: json)
        } catch {
            throw APIError(error)
        }
    }
}

extension WireContent where Self: WireOutput {
    public var content: [UInt8] { jsonBytes }
}

// An optional body: no bytes are nil.
extension Optional: WireContent where Wrapped: WireContent {
    public init(content bytes: Span<UInt8>) throws(APIError) {
        self = bytes.isEmpty ? nil : try Wrapped(content: bytes)
    }

    public var content: [UInt8] { self?.content ?? [] }
}

extension Array: WireContent where Element: WireReadable & WireOutput {}
extension Page: WireContent where Item: WireReadable & WireOutput {}
extension Dictionary: WireContent where Key == String, Value == String {}

// MARK: Server side

extension Endpoint {
    /// Decodes the parameters of a request.
    /// - Throws: 422, which names the invalid parameter.
    public func decodeParameters(_ reader: ParameterReader) throws(APIError) -> Parameters {
        do {
            return try Parameters(reader)
        } catch {
            throw APIError(error)
        }
    }

    /// Decodes the body of a request.
    /// - Throws: 400 or 422 if it is invalid.
    public func decodeBody(_ bytes: Span<UInt8>) throws(APIError) -> Body {
        try Body(content: bytes)
    }
}

// MARK: Client side

extension Endpoint {
    /// A client's request: method, request target and body (empty for none).
    public struct Request: Hashable, Sendable {
        public var method: Operation.Method
        public var target: String
        public var body: [UInt8]
    }

    /// Returns the request target: path and query.
    public func target(_ parameters: Parameters) -> String {
        var writer = ParameterWriter()
        parameters.write(to: &writer)
        return writer.target(of: operation.path)
    }

    public func request(_ parameters: Parameters, _ body: Body) -> Request {
        Request(method: operation.method, target: target(parameters), body: body.content)
    }

    /// Decodes a response, or throws the error in it. A success that cannot be decoded is `INTERNAL_ERROR` with status
    /// 502, because the server is at fault.
    public func decode(
        status: Int, body: Span<UInt8>, retryAfter: Int? = nil
    ) throws(APIError) -> Answer {
        guard status == operation.successStatus else {
            throw APIError(status: status, body: body, retryAfter: retryAfter)
        }
        do {
            return try Answer(content: body)
        } catch {
            throw APIError.responseIsUnreadable(error.message, field: error.field)
        }
    }
}

extension Endpoint where Parameters == NoParameters {
    public func request(_ body: Body) -> Request { request(NoParameters(), body) }
}

extension Endpoint where Body == NoBody {
    public func request(_ parameters: Parameters) -> Request { request(parameters, NoBody()) }
}

extension Endpoint where Parameters == NoParameters, Body == NoBody {
    public func request() -> Request { request(NoParameters(), NoBody()) }
}
