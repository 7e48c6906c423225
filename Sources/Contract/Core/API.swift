import NagzAI

/// Every operation of the API, declared in `Wire/` and used by server and client.
public enum API {
    /// Bytes of a form beside the picture in it: boundaries and heads of parts.
    static let formOverhead = 64 << 10

    /// The endpoint of an AI operation; nil if there is none.
    public static func call<Question, Response>(
        of operation: AIOperation<Question, Response>
    ) -> (any AICall<Question, Response>)? {
        aiCalls.first { $0.id == operation.id } as? any AICall<Question, Response>
    }
}
