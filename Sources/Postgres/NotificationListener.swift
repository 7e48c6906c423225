import Reactor
import SQL

/// Listens on one channel (`LISTEN`), with a session of its own that is reopened whenever it is lost.
///
/// Notifications that are sent while no session listens are lost. A caller that needs all of them MUST look for missed
/// changes each time that `onListening` is called.
public final class NotificationListener {
    private static let shortestPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(1)

    private let options: ConnectionOptions
    private let listenStatement: SQL
    private let resolver: HostResolver
    private let poller: Poller
    private let heartbeatInterval: Duration
    private let timeout: Duration
    private let onListening: () -> Void
    private let onNotification: (String) -> Void
    private var attempt: ConnectionAttempt?
    private var connection: Connection?
    private var lastSessionID = 0
    private var restartPause = shortestPause
    private var isStopped = false

    /// Whether a session listens now.
    public private(set) var isListening = false

    /// - Parameters:
    ///   - listenStatement: the statement, such as `LISTEN changes`.
    ///   - heartbeatInterval: the time between statements that check whether the session still answers.
    ///   - timeout: how long an attempt, and each answer of a session, may take before the session is reopened.
    ///   - onListening: called each time that a session has begun to listen.
    ///   - onNotification: called with each payload.
    public init(
        _ options: ConnectionOptions, listen listenStatement: SQL, resolver: HostResolver = .system, poller: Poller,
        heartbeatInterval: Duration = .seconds(5), timeout: Duration = .seconds(5),
        onListening: @escaping () -> Void, onNotification: @escaping (String) -> Void
    ) {
        (self.options, self.resolver, self.poller) = (options, resolver, poller)
        self.listenStatement = listenStatement
        (self.heartbeatInterval, self.timeout) = (heartbeatInterval, timeout)
        (self.onListening, self.onNotification) = (onListening, onNotification)
    }

    public func start() {
        guard !isStopped, attempt == nil, connection == nil else { return }
        let attempt = ConnectionAttempt(options, resolver, poller)
        self.attempt = attempt
        poller.spawn { [weak self] in await self?.open(attempt) }
    }

    public func stop() {
        isStopped = true
        attempt?.cancel()
        connection?.close()
    }

    private func open(_ attempt: ConnectionAttempt) async {
        do throws(PostgresError) {
            let handle = unsafe try await attempt.open(within: timeout)
            self.attempt = nil
            lastSessionID += 1
            let connection: Connection
            do {
                connection = unsafe try Connection(
                    adopting: handle, id: lastSessionID, poller: poller, batchTimeout: timeout, onRetire: { _ in },
                    onClose: { [weak self] _ in self?.handleLostSession() })
            } catch {
                throw .unavailable("\(error)")
            }
            guard !isStopped else { return connection.close() }
            connection.onNotification = { [weak self] in self?.onNotification($0) }
            self.connection = connection
            do { _ = try await connection.pipeline([listenStatement]) } catch { return connection.close() }
            guard connection.isOpen else { return }
            (isListening, restartPause) = (true, Self.shortestPause)
            onListening()
            scheduleHeartbeat(connection)
        } catch {
            self.attempt = nil
            scheduleRestart()
        }
    }

    private func handleLostSession() {
        (connection, isListening) = (nil, false)
        scheduleRestart()
    }

    private func scheduleRestart() {
        guard !isStopped else { return }
        poller.schedule(at: poller.now + restartPause) { [weak self] in self?.start() }
        restartPause = min(restartPause * 2, Self.longestPause)
    }

    /// Schedules a heartbeat. Without it, a lost host would look like one that sends no notification.
    private func scheduleHeartbeat(_ connection: Connection) {
        poller.schedule(at: poller.now + heartbeatInterval) { [weak self, weak connection] in
            guard let self, let connection, connection.isOpen else { return }
            poller.spawn { [weak self] in
                // If no answer comes within the timeout, the session closes itself.
                _ = try? await connection.pipeline(["SELECT 1"])
                if connection.isOpen { self?.scheduleHeartbeat(connection) }
            }
        }
    }
}
