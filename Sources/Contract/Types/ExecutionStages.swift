import Domain
import JSON
import NagzAI

/// The stages of a question, in order.
public enum ExecutionStage: String, Sendable, CaseIterable, WireEnumeration {
    /// The question was received.
    case created
    /// The router has decided.
    case routed
    /// The chosen engine has answered or failed.
    case executed
    /// The answer is recorded.
    case completed
    /// There is no answer.
    case failed
}

/// The time at which a question reached a stage.
public struct StageTime: Hashable, WireObject {
    public var stage: ExecutionStage
    public var at: Timestamp

    public init(_ stage: ExecutionStage, at: Timestamp) {
        self.stage = stage
        self.at = at.flooredToMillisecond
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(try fields.required("stage"), at: try fields.required("at"))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("stage", stage)
            json.field("at", at)
        }
    }
}

extension AskedModel: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            try fields.required("provider"), try fields.required("model"), try fields.required("reach"),
            tokenCount: try fields.optional("token_count"))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("provider", provider)
            json.field("model", name)
            json.field("reach", reach)
            json.field("token_count", tokenCount)
        }
    }
}

extension ConfirmationStatus: WireEnumeration {
    /// Reads a status. Older records have `true` for `yes`, and `false` for `none`.
    init(_ name: String, in fields: FieldReader) throws(InvalidInput) {
        if let isConfirmed = try? fields.required(name, as: Bool.self) {
            self = isConfirmed ? .yes : .none
        } else {
            self = try fields.required(name)
        }
    }
}
