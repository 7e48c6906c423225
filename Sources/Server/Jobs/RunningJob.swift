import Postgres
import Reactor

/// A job with its database sessions, which begin and end together, and the loop on which they run.
struct RunningJob: Sendable {
    private let loop: EventLoop
    /// Whether nothing else runs on the loop.
    private let ownsLoop: Bool
    private let parts: LoopBound<Parts>

    private typealias Parts = (job: any BackgroundJob, database: Database?)

    /// Creates a job on a loop that also serves requests.
    init(on loop: EventLoop, _ make: @Sendable (Poller) throws -> (any BackgroundJob, Database?)) async throws {
        self.loop = loop
        ownsLoop = false
        parts = try await loop.makeOnLoop { LoopBound(value: try make($0)) }
    }

    /// Creates a job on a loop of its own, so that its work delays no request.
    init(_ name: String, _ make: @Sendable (Poller) throws -> (any BackgroundJob, Database?)) async throws {
        loop = try EventLoop(name: name)
        ownsLoop = true
        try loop.start()
        parts = try await loop.makeOnLoop { LoopBound(value: try make($0)) }
    }

    func start() async { await Self.start(parts, on: loop) }

    private static func start(_ parts: LoopBound<Parts>, on loop: isolated EventLoop) {
        parts.value.database?.open()
        parts.value.job.start()
    }

    /// Stops the job, and closes its database sessions once its work has ended.
    func end() async {
        let parts = parts
        try? await loop.runTask { _ in
            parts.value.job.stop()
            await parts.value.job.finish()
            parts.value.database?.close()
        }
        if ownsLoop { loop.stop() }
    }
}

extension EventLoop {
    /// Calls `body` on this loop, and returns the value that it creates for use on the loop.
    func makeOnLoop<Value: Sendable>(_ body: (Poller) throws -> Value) throws -> Value { try body(poller) }
}
