import CLinux
import Glibc

/// The socket calls a connection makes; each returns a count, or an error number as a negative one.
enum Socket {
    static func shutdownSending(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    static func isTransient(_ result: Int) -> Bool { result == -Int(EAGAIN) || result == -Int(EINTR) }

    /// The descriptor table of the process or the system is full, or memory is short: waiting may help.
    static func isExhaustion(_ number: Int32) -> Bool {
        number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM
    }

    /// One accepted connection and its peer, or a negative error number.
    static func accept(_ listener: Int32) -> (descriptor: Int32, remote: RemoteAddress) {
        var address = [UInt8](repeating: 0, count: 16)
        var port: UInt16 = 0
        let descriptor = unsafe address.withUnsafeMutableBufferPointer { address in
            unsafe CLinuxAccept(listener, address.baseAddress, &port)
        }
        return (descriptor, RemoteAddress(bytes: address, port: port))
    }

    /// Seconds since 1970, to the kernel's tick.
    static func wallClockSeconds() -> Int {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return time.tv_sec
    }
}

/// The calls whose outcome is the kernel's and the peer's to decide; a test decides for them.
struct SocketCalls {
    var accept: (_ listener: Int32) -> (descriptor: Int32, remote: RemoteAddress) = Socket.accept
    var send: (inout WriteBuffer, _ descriptor: Int32) -> Int = { $0.send(to: $1) }
}

/// The memory a loop receives into, shared by its connections one after another.
@safe final class ReceiveBuffer {
    private let memory: UnsafeMutableBufferPointer<UInt8>

    init(capacity: Int) {
        unsafe memory = .allocate(capacity: capacity)
        unsafe memory.initialize(repeating: 0)
    }

    deinit { unsafe memory.deallocate() }

    func receive(from descriptor: Int32) -> Int {
        let count = unsafe recv(descriptor, memory.baseAddress, memory.count, 0)
        return count >= 0 ? count : -Int(errno)
    }

    /// Lends the first `count` bytes received; they last until the next `receive`.
    func withBytes<Result>(_ count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        body(unsafe Span(_unsafeElements: UnsafeBufferPointer(memory)).extracting(0..<count))
    }
}

/// Bytes on their way to a socket, in the order they were put in: small answers gathered in one buffer, and behind them
/// one large body uncopied.
struct WriteBuffer {
    /// From this size on a body is sent from where it lies.
    static let largeBody = 16 << 10

    private var bytes: [UInt8] = []
    private var tail: [UInt8] = []
    /// How much of both together is sent already.
    private var sent = 0

    var count: Int { bytes.count + tail.count - sent }
    /// What takes memory: that of a large body is free only once all of it is sent.
    var heldBytes: Int { bytes.count + tail.count }

    /// Whether what is put in now would have to be copied behind a large body: better to send first.
    var endsInLargeBody: Bool { !tail.isEmpty }

    /// Lets `write` append behind all that is here.
    mutating func append(_ write: (inout [UInt8]) -> Void) {
        forgetSent()
        if tail.isEmpty { write(&bytes) } else { write(&tail) }
    }

    mutating func append(body: [UInt8]) {
        if tail.isEmpty, body.count >= Self.largeBody {
            tail = body
        } else {
            append { $0.append(contentsOf: body) }
        }
    }

    /// Drops what is sent once it is more than what is not: a stream to a slow reader takes no more memory than waits.
    private mutating func forgetSent() {
        guard sent > count else { return }
        let gathered = min(sent, bytes.count)
        bytes.removeFirst(gathered)
        tail.removeFirst(sent - gathered)
        sent = 0
    }

    // MARK: The gathering buffer, which the loop lends

    var bufferCapacity: Int { bytes.capacity }

    mutating func swapBuffer(with other: inout [UInt8]) { swap(&bytes, &other) }

    // MARK: Sending

    /// Sends what the socket takes, in one call; a count or a negative error number.
    mutating func send(to descriptor: Int32) -> Int {
        let result = tail.isEmpty ? sendBytes(descriptor) : sendBoth(descriptor)
        guard result >= 0 else { return -Int(errno) }
        sent += result
        if count == 0 {
            bytes.removeAll(keepingCapacity: true)
            tail = []
            sent = 0
        }
        return result
    }

    private func sendBytes(_ descriptor: Int32) -> Int {
        unsafe bytes.withUnsafeBytes { bytes in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
            return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        }
    }

    private func sendBoth(_ descriptor: Int32) -> Int {
        unsafe bytes.withUnsafeBytes { head in
            unsafe tail.withUnsafeBytes { tail in
                let headRest = unsafe UnsafeRawBufferPointer(rebasing: head[min(sent, head.count)...])
                let tailRest = unsafe UnsafeRawBufferPointer(rebasing: tail[max(0, sent - head.count)...])
                // sendmsg declares its vectors mutable; it does not write through them.
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
