import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Sends the sockets of this instance the events of their families, from whichever instance the events come.
///
/// After a commit the ledger records the family (`ChangedFamilies`). The hub gathers such families for a moment and
/// sends one notification to all instances, outside of every write's transaction. An instance that receives a family
/// for which it has sockets reads the family's new audit entries in order, and checks in the same round whether each
/// socket may still receive them.
///
/// The sockets of a connection's people get its events: each instance reads the connection's new entries in the same
/// way (`ConnectionEntry`).
///
/// A notification may be lost: the instance may die before it sends one, or the listening session may be down. So a
/// sweep compares the families' clocks about every 0.7 seconds, and every fourth sweep looks for connections that have
/// changed. If the process dies, nothing has to be repaired: clients reconnect, and the feed has what they missed.
final class RealtimeHub: BackgroundJob {
    /// The limits of the hub's sessions: one sends notifications and reads events. Another session, which is not
    /// counted here, listens.
    static let limits = Database.Limits(connections: 1)

    /// The time for which changed families are gathered before one notification.
    static let gatheringTime = Duration.milliseconds(25)
    private static let sweepPeriod = Duration.milliseconds(700)
    /// The number of sweeps among which one also looks at connections. Looking at them costs more.
    private static let sweepsPerConnectionSweep = 4
    private static let socketCheckPeriod = Duration.milliseconds(500)
    /// The number of sockets at which a check takes no further family, so that its cost is limited however many sockets
    /// there are.
    private static let socketsPerCheck = 500
    /// The period after which the people with sockets are recorded again.
    private static let liveSocketPeriod = Duration.seconds(15)
    /// The largest number of families, or connections, whose entries are read in one round.
    private static let chainsPerRound = 64

    private let exchange: RealtimeExchange
    private let database: Database
    private let clock: any WallClock
    private let log: Log
    private let instance: InstanceID
    private var listener: NotificationListener?
    private let makeListener: (RealtimeHub) -> NotificationListener
    private var directory = SocketDirectory()
    private var connections = ConnectionPositions()
    private var isNotifyScheduled = false
    private var isReadingFamilies = false
    private var isReadingConnections = false
    private var sweepsSinceConnectionSweep = 0
    private var isListenerStarted = false
    private var isStopped = false
    /// The cause of the last failure, which is logged only once in a row; nil after a success.
    private var lastFailure: String?

    /// - Parameters:
    ///   - database: has a session of its own.
    ///   - options: the options of the session that listens, which is opened with the first socket.
    init(
        _ exchange: RealtimeExchange, database: Database, options: ConnectionOptions, clock: any WallClock,
        random: any Randomness, log: Log
    ) {
        (self.exchange, self.database, self.clock, self.log) = (exchange, database, clock, log)
        instance = random.identifier(at: clock.now())
        makeListener = { hub in
            NotificationListener(
                options, listen: RealtimeStatements.listen, poller: database.poller,
                onListening: { [weak hub] in hub?.listeningBegan() },
                onNotification: { [weak hub] in hub?.notificationReceived($0) })
        }
    }

    func start() {
        exchange.hubMailbox.open { [weak self] in self?.receive($0) }
        repeatEvery(Self.sweepPeriod) { try await $0.sweep() }
        repeatEvery(Self.socketCheckPeriod) { try await $0.checkSomeSockets() }
        repeatEvery(Self.liveSocketPeriod) { try await $0.refreshLiveSockets() }
    }

    func stop() {
        isStopped = true
        exchange.hubMailbox.close()
        listener?.stop()
    }

    /// Deletes the database's records of this instance's sockets, which are closed.
    func finish() async {
        guard isListenerStarted else { return }
        _ = try? await database.query(RealtimeStatements.deleteAllLiveSockets(on: instance))
    }

    /// Runs the body a period from now, and again a period after each run, until the hub stops. Without open sockets it
    /// skips the body.
    private func repeatEvery(_ period: Duration, _ body: @escaping (RealtimeHub) async throws -> Void) {
        database.poller.schedule(at: .now() + period) { [weak self] in
            guard let self, !isStopped else { return }
            guard !directory.isEmpty else { return repeatEvery(period, body) }
            run { hub in
                defer { hub.repeatEvery(period, body) }
                try await body(hub)
            }
        }
    }

    private func run(_ body: @escaping (RealtimeHub) async throws -> Void) {
        database.poller.spawn { [weak self] in
            guard let self else { return }
            do {
                try await body(self)
                lastFailure = nil
            } catch {
                report(error)
            }
        }
    }

    private func report(_ error: any Error) {
        let cause = "\(error)"
        defer { lastFailure = cause }
        guard !isStopped, cause != lastFailure else { return }
        log.write(.warning, "realtime_delayed") { $0.field("cause", cause) }
    }

    // MARK: Messages of the loops

    private func receive(_ messages: [HubMessage]) {
        // The people whose first socket was opened, and those whose last one was closed.
        var (arrived, departed): (Set<UserID>, Set<UserID>) = ([], [])
        for message in messages {
            switch message {
            case .familiesChanged: scheduleNotify()
            case .opened(let socket):
                startListening()
                if directory.insertReportingArrival(socket) { arrived.insert(socket.user) }
            case .closed(let id, let family):
                if let user = directory.removeReportingDeparture(id, of: family) { departed.insert(user) }
            }
        }
        recordLiveSockets(arrived.filter(directory.contains))
        deleteLiveSockets(departed.filter { !directory.contains($0) })
        readFamilies()
    }

    private func startListening() {
        guard !isListenerStarted else { return }
        isListenerStarted = true
        listener = makeListener(self)
        listener?.start()
    }

    private func recordLiveSockets(_ users: Set<UserID>) {
        guard !users.isEmpty else { return }
        run { _ = try await $0.database.query(RealtimeStatements.recordLiveSockets(Array(users), on: $0.instance)) }
    }

    private func deleteLiveSockets(_ users: Set<UserID>) {
        guard !users.isEmpty else { return }
        run { _ = try await $0.database.query(RealtimeStatements.deleteLiveSockets(Array(users), on: $0.instance)) }
    }

    /// Records the people with sockets again, and deletes the records of instances that died.
    private func refreshLiveSockets() async throws {
        for chunk in directory.users.chunks(of: 1_000) {
            _ = try await database.query(RealtimeStatements.recordLiveSockets(chunk, on: instance))
        }
        _ = try await database.query(RealtimeStatements.deleteExpiredLiveSockets)
    }

    // MARK: Notifications

    private func scheduleNotify() {
        guard !isNotifyScheduled else { return }
        isNotifyScheduled = true
        database.poller.schedule(at: .now() + Self.gatheringTime) { [weak self] in
            guard let self, !isStopped else { return }
            // A family that changes from here on is the first of the next notification.
            isNotifyScheduled = false
            let changed = exchange.changes.take()
            guard !changed.isEmpty else { return }
            run { hub in
                let connections = try await hub.connections(among: changed)
                let payloads = ChangePayload.texts(of: changed, connections: connections)
                _ = try await hub.database.query(RealtimeStatements.notify(payloads))
            }
        }
    }

    private func notificationReceived(_ payload: String) {
        for family in ChangePayload.families(in: payload) { directory.markChanged(family) }
        readFamilies()
        guard !directory.isEmpty else { return }
        for connection in ChangePayload.connections(in: payload) { connections.markChanged(connection) }
        readConnections()
    }

    /// Returns the changed ledgers that belong to connections. A ledger with sockets is a family's, and is not looked
    /// up.
    private func connections(among changed: Set<FamilyID>) async throws -> Set<FamilyID> {
        let ids = changed.filter { !directory.contains($0) }
        guard !ids.isEmpty else { return [] }
        let rows = try await database.query(ConnectionStatements.ids(among: Array(ids)))
        return Set(try rows.map { row throws(PostgresError) -> FamilyID in try row["id"] })
    }

    private func listeningBegan() {
        // Earlier notifications were not received.
        run { hub in
            try await hub.sweep()
            try await hub.sweepConnections()
        }
    }

    private func sweep() async throws {
        exchange.counters.isHubListening.set(listener?.isListening == true ? 1 : 0)
        for chunk in directory.positions.chunks(of: 5_000) {
            let changed = try await database.query(RealtimeStatements.changedFamilies(since: chunk))
            for ordinal: Int in try changed.map({ try $0["ordinal"] }) {
                directory.markChanged(chunk[ordinal - 1].family)
            }
        }
        readFamilies()
        sweepsSinceConnectionSweep = (sweepsSinceConnectionSweep + 1) % Self.sweepsPerConnectionSweep
        if sweepsSinceConnectionSweep == 0 { try await sweepConnections() }
    }

    /// Looks for connections that have changed in the last 30 seconds, among those of people with sockets, and marks
    /// them as changed.
    private func sweepConnections() async throws {
        let moment = clock.now() - .seconds(30)
        for chunk in directory.users.chunks(of: 5_000) {
            let rows = try await database.query(RealtimeStatements.changedConnections(of: chunk, since: moment))
            for id: FamilyID in try rows.map({ try $0["id"] }) { connections.markChanged(id) }
        }
        readConnections()
    }

    // MARK: Reading entries and notifying sockets

    private func readFamilies() {
        guard !isReadingFamilies, directory.hasUnread, !isStopped else { return }
        isReadingFamilies = true
        run { hub in
            defer { hub.isReadingFamilies = false }
            while hub.directory.hasUnread, !hub.isStopped { try await hub.readSomeFamilies() }
        }
    }

    private func readSomeFamilies() async throws {
        let positions = directory.takeUnread(Self.chainsPerRound)
        let sockets = directory.sockets(of: positions.map(\.family))
        // Entitlements are read last, so that nobody is notified of an event after losing the right to it.
        let results = try await database.pipeline([
            RealtimeStatements.entries(after: positions), RealtimeStatements.entitlements(of: sockets, at: clock.now()),
        ])
        try applyEntitlements(results[1], to: sockets)
        for (position, entries) in zip(positions, try FamilyEntries.read(results[0], of: positions.count)) {
            guard let end = entries.lastSeq else { continue }
            let deliveries = directory.advance(position.family, from: position.seq, to: end, entries.events)
            for (socket, events) in deliveries {
                exchange.socketMailboxes[socket.loop].send(.events(events, to: socket.id))
            }
            if entries.isFull { directory.markChanged(position.family) }
        }
    }

    private func readConnections() {
        guard !isReadingConnections, connections.hasUnread, !isStopped else { return }
        isReadingConnections = true
        run { hub in
            defer { hub.isReadingConnections = false }
            while hub.connections.hasUnread, !hub.isStopped { try await hub.readSomeConnections() }
        }
    }

    private func readSomeConnections() async throws {
        let positions = connections.takeUnread(Self.chainsPerRound)
        let rows = try await database.query(RealtimeStatements.entries(ofConnections: positions))
        var events: [FamilyEvent] = []
        for row in rows {
            let entry = try ConnectionEntry(row)
            connections.advance(positions[entry.index].connection, to: entry.seq)
            if let event = entry.event { events.append(event) }
        }
        var people: Set<UserID> = []
        for case .people(let notified) in events.map(\.audience) { people.formUnion(notified) }
        let sockets = directory.sockets(of: people)
        guard !sockets.isEmpty else { return }
        // Entitlements are read last, as for families.
        try applyEntitlements(
            try await database.query(RealtimeStatements.entitlements(of: sockets, at: clock.now())), to: sockets)
        for socket in sockets where directory.contains(socket) {
            let visible = events.filter { socket.mayBeNew($0) && $0.audience.includes(socket.user, socket.role) }
            if !visible.isEmpty { exchange.socketMailboxes[socket.loop].send(.events(visible, to: socket.id)) }
        }
    }

    /// Checks the rights of some sockets, for changes that are in no family's audit log, such as an expired session.
    private func checkSomeSockets() async throws {
        let sockets = directory.nextSocketsToCheck(stoppingAt: Self.socketsPerCheck)
        guard !sockets.isEmpty else { return }
        try applyEntitlements(
            try await database.query(RealtimeStatements.entitlements(of: sockets, at: clock.now())), to: sockets)
    }

    private func applyEntitlements(_ rows: Rows, to sockets: [SocketRecord]) throws {
        var departed: Set<UserID> = []
        for row in rows {
            let ordinal: Int = try row["ordinal"]
            let socket = sockets[ordinal - 1]
            let (role, isEntitled): (FamilyRole?, Bool) = (try row["role"], try row["is_entitled"])
            guard isEntitled, let role else {
                if let user = directory.removeReportingDeparture(socket.id, of: socket.family) { departed.insert(user) }
                exchange.socketMailboxes[socket.loop].send(.revoked(socket.id))
                continue
            }
            if role != socket.role { directory.setRole(role, of: socket) }
        }
        deleteLiveSockets(departed)
    }
}
