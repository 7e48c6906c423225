import Contract
import Testing

/// Expects a typed call to be refused with that status, and returns the refusal.
@discardableResult
func expectRefusal<Value>(
    _ status: Int, sourceLocation: SourceLocation = #_sourceLocation, _ call: () async throws -> Value
) async throws -> APIError {
    let error = try await refusal(call)
    #expect(error.status == status, sourceLocation: sourceLocation)
    return error
}
