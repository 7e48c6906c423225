/// Limits for one request, one connection and the whole server.
public struct Limits: Sendable, Hashable {
    /// Bytes of the request line without its line end; a longer line is refused with 414.
    public var maxRequestLineBytes = 8 << 10
    /// Bytes of the header section, including line ends; a larger one is refused with 431. The same limit applies to
    /// trailers.
    public var maxHeadBytes = 16 << 10
    /// Header fields in one request; more are refused with 431.
    public var maxFields = 100
    /// Bytes of content, unless the route has its own limit; more are refused with 413.
    public var maxBodyBytes = 1 << 20
    /// Bytes of one chunk-size line; all chunk extensions of a request may have 64 times as many. More are refused with
    /// 400.
    public var maxChunkLineBytes = 256

    /// The time from the first byte of a request to the end of its header section.
    public var headTimeout: Duration = .seconds(10)
    /// The lowest rate of request content, in bytes per second, measured over a sliding window of `bodyRateWindow`.
    /// Slower content is refused with 408, however much came before.
    public var minBodyBytesPerSecond = 1 << 10
    /// The length of the window over which `minBodyBytesPerSecond` is measured.
    public var bodyRateWindow: Duration = .seconds(10)
    /// The time that a connection may be idle between requests.
    public var idleTimeout: Duration = .seconds(75)
    /// The lowest rate at which a client must read its responses, in bytes per second, measured over a sliding window
    /// of `writeRateWindow`. The connection of a slower client is closed.
    public var minWriteBytesPerSecond = 1 << 10
    /// The length of the window over which `minWriteBytesPerSecond` is measured.
    public var writeRateWindow: Duration = .seconds(20)
    /// Bytes of a streamed response that may wait in memory for a slow client.
    public var maxWriteBufferBytes = 1 << 20
    /// The time for which input is read and discarded after the last response, so that the client can read that
    /// response (RFC 9112 §9.6).
    public var lingerTime: Duration = .seconds(2)
    /// The number of bytes that are read and discarded in that time; after them the connection is closed.
    public var maxLingerBytes = 4 << 20
    /// The time for which an idle connection may still send one request after draining has begun.
    public var drainGrace: Duration = .seconds(1)

    /// The largest number of connections in all.
    public var maxConnections = 20_000
    /// The largest number of connections for one client address; an IPv6 /64 counts as one address. An address may also
    /// have at most twice as many connections as are free, so that others can still connect.
    public var maxConnectionsPerAddress = 12_500
    /// The number of connections over these limits that each loop keeps open to send them a 503; the rest are closed
    /// without a response.
    public var maxRefusalsPerLoop = 256
    /// Bytes of requests that all connections may hold, from arrival to response; each loop has an equal share. A
    /// request that needs more is refused with 503, unless it is complete and has no content.
    public var maxRequestMemoryBytes = 256 << 20
    /// Bytes of large requests that one address may hold, over all loops.
    public var maxRequestMemoryBytesPerAddress = 32 << 20
    /// Bytes of responses that all loops may hold, from before they are built until they are written. A large response
    /// that does not fit becomes a 503.
    public var maxAnswerMemoryBytes = 256 << 20
    /// Bytes of responses that all loops may hold for one address.
    public var maxAnswerMemoryBytesPerAddress = 64 << 20
    /// The largest size of a small request or response. A sixteenth of each memory is reserved for small ones, and
    /// small requests do not count for their address.
    public var maxSmallMessageBytes = 4 << 10

    public init() {}

    /// Lowers the limits on connections and refusals to the available descriptors, so that connections over the limit
    /// get a 503.
    /// - Parameters:
    ///   - descriptors: the maximum number of descriptors that the process may open.
    ///   - reserve: the number of descriptors that are for other purposes.
    ///   - loops: the number of event loops.
    public mutating func fit(descriptors: Int, reserve: Int, loops: Int) {
        let available = max(1, descriptors - reserve)
        maxRefusalsPerLoop = min(maxRefusalsPerLoop, available / (8 * loops))
        maxConnections = min(maxConnections, available - maxRefusalsPerLoop * loops)
    }
}
