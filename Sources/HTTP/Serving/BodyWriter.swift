/// Writes content piece by piece while the answer is under way; lives on the connection's loop.
public final class BodyWriter {
    /// The peer is gone or too slow: nothing more can be written.
    public struct Disconnected: Error {}

    private let connection: HTTPConnection
    private let isChunked: Bool

    init(connection: HTTPConnection, isChunked: Bool) {
        self.connection = connection
        self.isChunked = isChunked
    }

    /// Sends a piece, and waits while more than the connection's write buffer is unsent.
    public func write(_ bytes: [UInt8]) async throws(Disconnected) {
        guard !bytes.isEmpty else { return }
        guard connection.write(piece: bytes, isChunked: isChunked) else { throw Disconnected() }
        if connection.isWriteBufferFull { await connection.waitForRoom() }
        guard !connection.isClosed else { throw Disconnected() }
    }
}
