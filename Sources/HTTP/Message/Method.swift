/// A request method that this server supports (RFC 9110 §9.3, RFC 5789). Others are refused with 501.
public enum Method: UInt8, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case get, head, post, put, patch, delete, options, trace

    /// Creates the method of the exact, case-sensitive token (RFC 9110 §9.1); nil for an unknown method.
    init?(_ token: Span<UInt8>) {
        func spells(_ name: StaticString) -> Bool { token.equals(name) }
        switch token.count {
        case 3 where spells("GET"): self = .get
        case 3 where spells("PUT"): self = .put
        case 4 where spells("POST"): self = .post
        case 4 where spells("HEAD"): self = .head
        case 5 where spells("PATCH"): self = .patch
        case 5 where spells("TRACE"): self = .trace
        case 6 where spells("DELETE"): self = .delete
        case 7 where spells("OPTIONS"): self = .options
        default: return nil
        }
    }

    public var description: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        }
    }
}

/// A set of methods, printed as an `Allow` field value (RFC 9110 §10.2.1).
public struct MethodSet: OptionSet, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public init(_ method: Method) { rawValue = 1 << method.rawValue }

    public func contains(_ method: Method) -> Bool { rawValue & (1 << method.rawValue) != 0 }
    public var description: String {
        Method.allCases.filter { contains($0) }.map(\.description).joined(separator: ", ")
    }
}
