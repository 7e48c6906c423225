import Reactor

/// Work that a server does beside its requests, on one loop and with database sessions of its own.
protocol BackgroundJob: AnyObject {
    /// Begins the work, which goes on until `stop`, or as long as the loop runs.
    func start()
    /// Lets the job begin no new work.
    func stop()
    /// Finishes the running work. Called after `stop`, while the database sessions are still open.
    func finish() async
}

extension BackgroundJob {
    func finish() async {}
}

/// A job that works in rounds, with a time between them.
protocol PeriodicJob: BackgroundJob {
    /// The time between two rounds when no more work is waiting.
    static var period: Duration { get }
    var poller: Poller { get }
    var isStopped: Bool { get }
    /// Runs one round.
    /// - Returns: whether more work is waiting.
    func runRound() async throws -> Bool
    /// Reports the error that ended a round. The next round begins after the period.
    func report(_ error: any Error)
}

extension PeriodicJob {
    /// Runs rounds as long as the loop runs, or until the job is stopped or released.
    func runRounds() {
        poller.spawn { [weak self] in
            var isMoreWaiting = false
            do { isMoreWaiting = try await self?.runRound() ?? false } catch { self?.report(error) }
            guard let self, !isStopped else { return }
            poller.schedule(at: .now() + (isMoreWaiting ? .zero : Self.period)) { [weak self] in
                guard let self, !isStopped else { return }
                runRounds()
            }
        }
    }
}
