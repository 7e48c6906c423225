import NagzAI

/// Every operation of the API, declared in `Wire/` and used by server and client.
public enum API {
    /// The maximum number of bytes of a form besides its picture: boundaries and headers of the parts.
    static let formOverhead = 64 << 10

    /// Returns the call of an AI operation; nil if the operation has no endpoint.
    public static func aiCall<Question, Response>(
        for operation: AIOperation<Question, Response>
    ) -> (any AICall<Question, Response>)? {
        aiCalls.first { $0.id == operation.id } as? any AICall<Question, Response>
    }
}
