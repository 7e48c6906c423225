/// Work that a server does beside its requests, on one loop and with database sessions of its own.
protocol BackgroundJob: AnyObject {
    /// Runs as long as the loop runs, or until `stop`.
    func start()
    func stop()
}
