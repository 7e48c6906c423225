import CCurl

/// The bytes of a connection that a transfer has opened.
extension Transfer {
    /// The result of one attempt to send or receive.
    enum IOResult: Hashable {
        /// - Parameter count: the number of bytes, at least one.
        case done(count: Int)
        /// The socket is not ready.
        case mustWait
        /// The peer has closed the connection, or it broke.
        case ended
    }

    /// The connection's socket; nil if there is none.
    var socket: Int32? {
        let socket = unsafe CCurlSocket(handle)
        return socket == -1 ? nil : socket
    }

    func send(_ bytes: [UInt8]) -> IOResult {
        var sentCount = 0
        return makeIOResult(unsafe curl_easy_send(handle, bytes, bytes.count, &sentCount), sentCount)
    }

    func receive(into buffer: inout [UInt8]) -> IOResult {
        var receivedCount = 0
        return makeIOResult(unsafe curl_easy_recv(handle, &buffer, buffer.count, &receivedCount), receivedCount)
    }

    private func makeIOResult(_ code: CURLcode, _ count: Int) -> IOResult {
        switch code {
        case CURLE_OK where count > 0: .done(count: count)
        case CURLE_AGAIN: .mustWait
        default: .ended
        }
    }
}
