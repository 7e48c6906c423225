import CLinux
import Glibc

/// System calls on sockets and checks of their results. A result is a count or a descriptor, or a negative error
/// number.
enum Socket {
    static func shutdownSending(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    static func isTransient(_ result: Int) -> Bool { result == -Int(EAGAIN) || result == -Int(EINTR) }

    /// Returns whether the process or the system has no free descriptors or memory, so that a later retry may succeed.
    /// - Parameter number: a positive error number.
    static func isExhaustion(_ number: Int32) -> Bool {
        number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM
    }

    /// Accepts one connection. Returns its descriptor, or a negative error number.
    static func accept(_ listener: Int32) -> (descriptor: Int32, peer: RemoteAddress) {
        var address = [UInt8](repeating: 0, count: 16)
        var port: UInt16 = 0
        let descriptor = unsafe address.withUnsafeMutableBufferPointer { address in
            unsafe CLinuxAccept(listener, address.baseAddress, &port)
        }
        return (descriptor, RemoteAddress(bytes: address, port: port))
    }

    /// Milliseconds since 1970, with the resolution of the kernel's tick.
    static func wallClockMilliseconds() -> Int {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return time.tv_sec &* 1_000 &+ time.tv_nsec / 1_000_000
    }
}

/// Calls whose results the kernel and the peer decide; tests replace them.
struct SocketCalls {
    var accept: (_ listener: Int32) -> (descriptor: Int32, peer: RemoteAddress) = Socket.accept
    var send: (inout WriteBuffer, _ descriptor: Int32) -> Int = { $0.send(to: $1) }
}

/// A loop's receive buffer, shared by its connections.
@safe final class ReceiveBuffer {
    private let memory: UnsafeMutableBufferPointer<UInt8>

    init(capacity: Int) {
        unsafe memory = .allocate(capacity: capacity)
        unsafe memory.initialize(repeating: 0)
    }

    deinit { unsafe memory.deallocate() }

    /// Receives bytes once. Returns their number, 0 at the end of the input, or a negative error number.
    func receive(from descriptor: Int32) -> Int {
        let count = unsafe recv(descriptor, memory.baseAddress, memory.count, 0)
        return count >= 0 ? count : -Int(errno)
    }

    /// Lends the first `count` received bytes; they are valid until the next `receive`.
    func withBytes<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        body(unsafe Span(_unsafeElements: UnsafeBufferPointer(memory)).extracting(0..<count))
    }
}

/// Bytes to send, in order: small responses gathered in one buffer, then one large body that is not copied.
struct WriteBuffer {
    /// Bodies from this many bytes on are sent without copying.
    static let minLargeBodyBytes = 16 << 10

    private var bytes: [UInt8] = []
    /// The large body, and the bytes that were appended after it; empty if there is no large body.
    private var tail: [UInt8] = []
    /// The number of bytes of `bytes` and `tail` together that are already sent.
    private var sentCount = 0

    /// The number of bytes that are not yet sent.
    var count: Int { bytes.count + tail.count - sentCount }
    /// The number of bytes in memory. A large body is freed only after all of it is sent.
    var heldBytes: Int { bytes.count + tail.count }

    /// Whether appended bytes would be copied behind a large body; sending first avoids that.
    var endsInLargeBody: Bool { !tail.isEmpty }

    /// Lets `write` append behind the present bytes.
    mutating func append(_ write: (inout [UInt8]) -> Void) {
        removeSent()
        if tail.isEmpty { write(&bytes) } else { write(&tail) }
    }

    mutating func append(body: [UInt8]) {
        if tail.isEmpty, body.count >= Self.minLargeBodyBytes {
            tail = body
        } else {
            append { $0.append(contentsOf: body) }
        }
    }

    /// Removes sent bytes once they outnumber the unsent ones, so that a stream to a slow client holds little more than
    /// its unsent bytes.
    private mutating func removeSent() {
        guard sentCount > count else { return }
        let gathered = min(sentCount, bytes.count)
        bytes.removeFirst(gathered)
        tail.removeFirst(sentCount - gathered)
        sentCount = 0
    }

    // MARK: The gathering buffer, lent by the loop

    var bufferCapacity: Int { bytes.capacity }

    mutating func swapBuffer(with other: inout [UInt8]) { swap(&bytes, &other) }

    // MARK: Sending

    /// Sends as much as the socket takes, in one call; returns a count or a negative error number.
    mutating func send(to descriptor: Int32) -> Int {
        let result = tail.isEmpty ? sendBytes(descriptor) : sendBytesAndTail(descriptor)
        guard result >= 0 else { return -Int(errno) }
        sentCount += result
        if count == 0 {
            bytes.removeAll(keepingCapacity: true)
            tail = []
            sentCount = 0
        }
        return result
    }

    private func sendBytes(_ descriptor: Int32) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sentCount...])
            return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        }
    }

    private func sendBytesAndTail(_ descriptor: Int32) -> Int {
        unsafe bytes.withUnsafeBytes { head in
            unsafe tail.withUnsafeBytes { tail in
                let headRest = unsafe UnsafeRawBufferPointer(rebasing: head[min(sentCount, head.count)...])
                let tailRest = unsafe UnsafeRawBufferPointer(rebasing: tail[max(0, sentCount - head.count)...])
                // sendmsg takes mutable vectors but does not write through them.
                var vectors = unsafe [
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: headRest.baseAddress), iov_len: headRest.count),
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: tailRest.baseAddress), iov_len: tailRest.count),
                ]
                return unsafe vectors.withUnsafeMutableBufferPointer { vectors in
                    var message = unsafe msghdr()
                    unsafe message.msg_iov = vectors.baseAddress
                    unsafe message.msg_iovlen = vectors.count
                    return unsafe sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
                }
            }
        }
    }
}
