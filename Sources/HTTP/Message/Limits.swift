/// What one request and one connection may use; every figure is a bound, not a hint.
public struct Limits: Sendable, Hashable {
    /// Bytes of the request line without its line end; more is 414.
    public var requestLine = 8 << 10
    /// Bytes of the whole header section, line ends included; more is 431. Trailers have the same bound.
    public var head = 16 << 10
    /// Header fields in one request; more is 431.
    public var fields = 100
    /// Bytes of content, unless the route says otherwise; more is 413.
    public var body = 1 << 20
    /// Bytes of one chunk's size line, and of all chunk extensions of a request together ×64; more is 400.
    public var chunkLine = 256

    /// From the first byte of a request to the end of its header section, in total.
    public var headTime: Duration = .seconds(10)
    /// Bytes per second that content must reach. The rate is measured over a sliding window of `bodyWindow`: however much
    /// came before, content that is slower for longer than that is 408.
    public var bodyRate = 1 << 10
    public var bodyWindow: Duration = .seconds(10)
    /// How long a connection may rest between requests.
    public var idleTime: Duration = .seconds(75)
    /// Bytes per second that a reader must take of its answers, measured over a sliding window of `writeWindow`; the
    /// connection of a slower one is closed.
    public var writeRate = 1 << 10
    public var writeWindow: Duration = .seconds(20)
    /// Bytes of a streamed answer that may wait in memory for a slow reader.
    public var writeBuffer = 1 << 20
    /// How long, and how many bytes, are read and thrown away after a final answer so that the peer can read it
    /// (RFC 9112 §9.6).
    public var lingerTime: Duration = .seconds(2)
    public var lingerBytes = 4 << 20
    /// How long an idle connection may still send one last request once draining has begun.
    public var drainGrace: Duration = .seconds(1)

    /// Connections of the whole server, and of one peer address (an IPv6 /64 counts as one). An address may also have no
    /// more than twice as many connections as are still free, so that there is always room for others.
    public var connections = 20_000
    public var connectionsPerAddress = 12_500
    /// Connections over these numbers that each loop keeps for as long as it takes to tell them; the others are closed
    /// without a word.
    public var refusals = 256
    /// Bytes of requests held at the same time by all connections together, from their arrival until the answer; each
    /// loop has its part. A request with content, or not complete yet, that needs more is 503.
    public var requestMemory = 256 << 20
    /// Bytes of large requests that one address may hold, over all loops.
    public var requestMemoryPerAddress = 32 << 20
    /// Bytes of answers held at the same time by all loops together, from before they are built until they are written,
    /// and those of one address. A large answer that does not fit is 503.
    public var answerMemory = 256 << 20
    public var answerMemoryPerAddress = 64 << 20
    /// Up to this size a request or an answer is small: a sixteenth of the memory for each is kept for small ones, and
    /// small requests do not count by address.
    public var smallMessage = 4 << 10

    public init() {}

    /// Lowers the number of connections to that of the descriptors there are for them, so that who finds no room is told.
    /// - Parameters:
    ///   - descriptors: how many the process may open.
    ///   - reserve: how many of them are for other things.
    public mutating func fit(descriptors: Int, reserve: Int, loops: Int) {
        let available = max(1, descriptors - reserve)
        refusals = min(refusals, available / (8 * loops))
        connections = min(connections, available - refusals * loops)
    }
}
