import Glibc
import SocketPairs
import Testing

@testable import HTTP

/// Two connected sockets: what is sent into one is read from the other.
private struct SocketPair: ~Copyable {
    let near: Int32
    let far: Int32

    init() {
        (near, far) = socketPair()
        for end in [near, far] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        // The smallest buffer there is: a large body never leaves in one call.
        var size: Int32 = 1
        setsockopt(near, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close(near)
        close(far)
    }

    /// What lies ready to be read.
    func read(into all: inout [UInt8], _ buffer: inout [UInt8]) {
        while case let count = recv(far, &buffer, buffer.count, 0), count > 0 { all += buffer.prefix(count) }
    }
}

@Suite("Bytes in a write buffer")
struct OutgoingTests {
    private static let sizes = [100, WriteBuffer.minLargeBodyBytes + 400, 2 * WriteBuffer.minLargeBodyBytes + 1]

    /// Every row of four pieces, one in three of which is small.
    private static let rows: [[Int]] = sizes.flatMap { a in
        sizes.flatMap { b in sizes.flatMap { c in sizes.map { d in [a, b, c, d] } } }
    }

    @Test("bytes leave the write buffer in their order, however much is sent in between", arguments: rows)
    func order(_ row: [Int]) {
        let pair = SocketPair()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let bodies = row.enumerated().map { number, size in
            (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number &* 7) }
        }
        // Bit n of a plan: whether the socket takes something before piece n + 1 is put in.
        for plan in 0..<8 {
            var writeBuffer = WriteBuffer()
            var (put, received): ([UInt8], [UInt8]) = ([], [])
            for (number, body) in bodies.enumerated() {
                writeBuffer.append { $0.append(contentsOf: [UInt8(number), 13, 10]) }
                writeBuffer.append(body: body)
                put += [UInt8(number), 13, 10] + body
                if plan >> number & 1 == 1, number < 3 {
                    #expect(writeBuffer.send(to: pair.near) > 0)
                    pair.read(into: &received, &buffer)
                }
                #expect(writeBuffer.count == put.count - received.count)
            }
            while writeBuffer.count > 0, writeBuffer.send(to: pair.near) > 0 { pair.read(into: &received, &buffer) }
            #expect(writeBuffer.count == 0 && received == put, "plan \(plan)")
        }
    }

    @Test("a write buffer for a slow reader keeps no more memory than unsent bytes need")
    func stream() {
        let pair = SocketPair()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var (put, received): ([UInt8], [UInt8]) = ([], [])
        var writeBuffer = WriteBuffer()
        for piece in 0..<2_000 {
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: piece), count: 1_000)
            put += bytes
            writeBuffer.append { $0 += bytes }
            // A little is always left, so that the buffer is never simply emptied.
            while writeBuffer.count > 8_000, writeBuffer.send(to: pair.near) > 0 { pair.read(into: &received, &buffer) }
        }
        #expect(writeBuffer.bufferCapacity < 100_000)
        while writeBuffer.count > 0, writeBuffer.send(to: pair.near) > 0 { pair.read(into: &received, &buffer) }
        #expect(received == put)
    }
}
