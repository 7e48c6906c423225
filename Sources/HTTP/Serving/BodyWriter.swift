/// Writes the content of a streamed response in pieces. Use it on the connection's loop only.
public final class BodyWriter {
    /// The connection is closed, so nothing more can be written.
    public struct Disconnected: Error {}

    private let connection: HTTPConnection
    private let isChunked: Bool

    init(connection: HTTPConnection, isChunked: Bool) {
        self.connection = connection
        self.isChunked = isChunked
    }

    /// Sends a piece, and suspends while the unsent bytes exceed `Limits.writeBuffer`.
    public func write(_ bytes: [UInt8]) async throws(Disconnected) {
        guard !bytes.isEmpty else { return }
        guard connection.write(piece: bytes, isChunked: isChunked) else { throw Disconnected() }
        if connection.isWriteBufferFull { await connection.waitForRoom() }
        guard !connection.isClosed else { throw Disconnected() }
    }
}
