import Postgres
import Reactor

/// A job with its loop and its database sessions, which begin and end together.
struct RunningJob: Sendable {
    private let loop: EventLoop
    /// Whether nothing else runs on the loop.
    private let isLoopOwn: Bool
    private let members: LoopBound<Members>

    private typealias Members = (job: any BackgroundJob, database: Database?)

    /// A job on a loop that serves requests, too.
    init(on loop: EventLoop, _ make: @Sendable (Poller) throws -> (any BackgroundJob, Database?)) async throws {
        self.loop = loop
        isLoopOwn = false
        members = try await loop.compose { LoopBound(value: try make($0)) }
    }

    /// A job on a loop of its own, so that its work delays no request.
    init(_ name: String, _ make: @Sendable (Poller) throws -> (any BackgroundJob, Database?)) async throws {
        loop = try EventLoop(name: name)
        isLoopOwn = true
        try loop.start()
        members = try await loop.compose { LoopBound(value: try make($0)) }
    }

    func start() async { await Self.start(members, on: loop) }

    private static func start(_ members: LoopBound<Members>, on loop: isolated EventLoop) {
        members.value.database?.open()
        members.value.job.start()
    }

    /// Stops the job, and closes its database sessions once its work has ended.
    func end() async {
        let members = members
        try? await loop.task { _ in
            members.value.job.stop()
            await members.value.job.finish()
            members.value.database?.close()
        }
        if isLoopOwn { loop.stop() }
    }
}

extension EventLoop {
    /// Makes something that is used on this loop.
    func compose<Value: Sendable>(_ body: (Poller) throws -> Value) throws -> Value { try body(poller) }
}
