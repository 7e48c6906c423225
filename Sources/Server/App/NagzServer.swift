import HTTP
import Postgres
import Reactor

/// The composition root: builds loops, database sessions, features and the HTTP server, and takes them down in order.
public final class NagzServer: Sendable {
    private let loops: [EventLoop]
    private let http: HTTPServer
    /// The server of `/metrics`, on the first loop.
    private let metrics: HTTPServer
    /// The parts of each loop, in the order of `loops`.
    private let loopParts: [LoopBound<LoopParts>]
    /// The jobs in the order in which they are started, and ended.
    private let jobs: [RunningJob]
    /// The parts that all loops and jobs share.
    let parts: ServerParts
    /// Every route, such as `GET /api/v1/nags/{nag_id}`.
    public let routes: [String]

    /// Builds everything and opens the database sessions; listens nowhere and writes nothing yet.
    ///
    /// The database may be away: then requests are answered 503, and sessions are opened when it is back.
    /// - Parameter slowStatements: the observer of slow statements, if `slowQueryThreshold` is nil; ignored otherwise.
    public init(
        _ configuration: Configuration, clock: any WallClock = SystemClock(),
        random: any Randomness = SystemRandomness(), slowStatements: SlowStatements? = nil
    ) async throws {
        loops = try (0..<configuration.loops).map { try EventLoop(name: "nagz-loop-\($0)") }
        parts = try ServerParts(configuration, loops, clock, random, slowStatements)
        var applications: [Application] = []
        var loopParts: [LoopBound<LoopParts>] = []
        for (number, loop) in loops.enumerated() {
            try loop.start()
            let (application, part) = try await loop.makeOnLoop { [parts] in try parts.startLoopParts(of: number, $0) }
            applications.append(application)
            loopParts.append(part)
        }
        self.loopParts = loopParts
        jobs = try await parts.makeJobs(loops)
        routes = applications.first?.router.routes.map { "\($0.method) \($0.template)" } ?? []
        http = HTTPServer(
            applications, on: loops, limits: configuration.httpLimits, answerMemory: parts.answerMemory,
            observer: RequestMonitor(telemetry: parts.telemetry, log: parts.log, clock: clock),
            samplesTraces: configuration.traceCollector != nil)
        metrics = HTTPServer(
            [try MetricsListener.application(parts.telemetry, parts.checkpointStatus, clock)],
            on: Array(loops.prefix(1)), limits: MetricsListener.limits)
    }

    /// Starts to serve requests, and starts the jobs.
    /// - Returns: the port, which the kernel chose when 0 was given.
    public func start(host: String, port: UInt16) async throws(SystemError) -> UInt16 {
        let port = try await http.listen(on: host, port: port)
        for job in jobs { await job.start() }
        return port
    }

    /// Starts to serve `/metrics`, and nothing else, at an address of its own.
    /// - Returns: the port, which the kernel chose when 0 was given.
    public func listenForMetrics(host: String, port: UInt16) async throws(SystemError) -> UInt16 {
        try await metrics.listen(on: host, port: port, backlog: 16)
    }

    /// Makes `/health/ready` answer 503 from now on, so that proxies send no more requests. Everything else keeps
    /// running.
    public func announceShutDown() { parts.telemetry.beginDraining() }

    /// Stops accepting connections, lets running requests finish, and stops everything.
    /// - Parameter time: the longest time for which running requests may continue.
    public func shutDown(within time: Duration = .seconds(8)) async {
        announceShutDown()
        async let socketsClosed: Void = closeSockets()
        await http.drain(within: time)
        await socketsClosed
        // Closes the sockets that were opened meanwhile.
        await closeSockets()
        await metrics.drain(within: .zero)
        for job in jobs { await job.end() }
        for (loop, part) in zip(loops, loopParts) { await Self.close(part, on: loop) }
        for loop in loops { loop.stop() }
        parts.stop()
    }

    private func closeSockets() async {
        for (loop, part) in zip(loops, loopParts) {
            try? await loop.runTask { _ in await part.value.sockets.drain() }
        }
    }

    private static func close(_ part: LoopBound<LoopParts>, on loop: isolated EventLoop) { part.value.close() }
}
