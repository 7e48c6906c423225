import Contract
import Domain

/// Reports changes on the server as they happen.
public protocol ChangeSource: Sendable {
    /// Listens for changes in a family until the connection ends or the task is cancelled.
    /// - Parameters:
    ///   - onOpen: called when the connection is open.
    ///   - onChange: called for every change while the connection is open.
    /// - Throws: the reason why the connection ended.
    func listen(
        to family: FamilyID, onOpen: @escaping @Sendable () -> Void, onChange: @escaping @Sendable () -> Void
    ) async throws(TransportError)
}

extension ServerClient: ChangeSource {
    /// Opens the WebSocket with a single-use ticket, so that the URL does not contain the access token.
    public func listen(
        to family: FamilyID, onOpen: @escaping @Sendable () -> Void, onChange: @escaping @Sendable () -> Void
    ) async throws(TransportError) {
        let ticket: Secret
        do throws(ClientError) {
            ticket = try await call(API.createSocketTicket, NoParameters()).ticket
        } catch {
            if case .transport(let fault) = error { throw fault }
            // The caller tries again, and the next round of the sync reports the error.
            throw .unreachable
        }
        try await transport.listen(
            "/api/v1/ws?ticket=\(ticket.wireText)&family_id=\(family)", onOpen: onOpen, onMessage: onChange)
    }
}
