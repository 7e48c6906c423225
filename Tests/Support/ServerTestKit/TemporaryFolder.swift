import Foundation

/// Runs `body` with the path of a temporary folder, which `body` creates if it needs it. The folder is deleted
/// afterwards.
func withTemporaryFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let path = FileManager.default.temporaryDirectory.appending(path: "nagz-test-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
