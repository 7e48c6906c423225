import Contract
import Domain

/// Tells of changes on the server as they happen.
public protocol ChangeSource: Sendable {
    /// Listens for changes in a family until the connection ends or the task is cancelled.
    /// - Parameters:
    ///   - opened: called when the server listens.
    ///   - changed: called for every change after that.
    /// - Throws: why the connection ended.
    func listen(
        to family: FamilyID, opened: @escaping @Sendable () -> Void, changed: @escaping @Sendable () -> Void
    ) async throws(TransportError)
}

extension ServerClient: ChangeSource {
    /// A token that the server does not accept any more ends the connection; the next call renews it.
    public func listen(
        to family: FamilyID, opened: @escaping @Sendable () -> Void, changed: @escaping @Sendable () -> Void
    ) async throws(TransportError) {
        try await transport.listen(
            "/api/v1/ws?token=\(session.accessToken.wireText)&family_id=\(family)", opened: opened, received: changed)
    }
}
