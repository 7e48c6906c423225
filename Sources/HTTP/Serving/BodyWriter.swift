/// Writes the content of a streamed response in pieces. Use it on the connection's loop only.
public final class BodyWriter {
    /// The error of a write to a closed connection.
    public struct DisconnectedError: Error {}

    private let connection: HTTPConnection
    private let isChunked: Bool

    init(connection: HTTPConnection, isChunked: Bool) {
        self.connection = connection
        self.isChunked = isChunked
    }

    /// Sends a piece, and suspends while the unsent bytes exceed `Limits.maxWriteBufferBytes`.
    public func write(_ bytes: [UInt8]) async throws(DisconnectedError) {
        guard !bytes.isEmpty else { return }
        guard connection.write(piece: bytes, isChunked: isChunked) else { throw DisconnectedError() }
        if connection.isWriteBufferFull { await connection.waitUntilWritable() }
        guard !connection.isClosed else { throw DisconnectedError() }
    }
}
