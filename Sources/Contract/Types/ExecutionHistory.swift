import Domain
import JSON
import NagzAI

extension ExecutionRecord {
    public var result: ExecutionResult { errorCode == nil ? .success : .error }
}

/// Whether a question was answered.
public enum ExecutionResult: String, Sendable, CaseIterable, WireEnumeration { case success, error }
