import Audit
import Contract
import Domain
import Foundation
import HTTP
import NagzAI
import Postgres
import Reactor

/// The composition root: builds loops, database sessions, features and the HTTP server, and takes them down in order.
public final class NagzServer: Sendable {
    private let loops: [EventLoop]
    private let http: HTTPServer
    /// Serves `/metrics`, on the first loop.
    private let metrics: HTTPServer
    private let members: [LoopBound<LoopMembers>]
    private let sequencing: LoopBound<(Sequencer, Database)>?
    private let scheduling: LoopBound<(Scheduler, Database)>?
    private let realtime: LoopBound<(RealtimeHub, Database)>?
    /// Runs on a loop of its own, so that its work delays no request.
    private let checking: (loop: EventLoop, check: LoopBound<(BackgroundCheck, Database)>)?
    /// Runs on a loop of its own: it speaks TLS with the providers.
    private let delivering: (loop: EventLoop, worker: LoopBound<(DeliveryWorker, Database)>)?
    /// Runs on a loop of its own: it speaks TLS with the collector.
    private let tracing: (loop: EventLoop, exporter: LoopBound<SpanExporter>)?
    private let telemetry: Telemetry
    private let hashingPool: BlockingPool
    private let picturePool: BlockingPool
    private let filePool: BlockingPool
    private let log: Log
    /// Memory for answers, shared by the handlers and connections of all loops.
    let answerMemory: MemoryBudget
    /// Exports under way, of all loops.
    let exports: ExportLimiter
    /// Every route, as `GET /api/v1/nags/{nag_id}`.
    public let routes: [String]

    /// Builds everything and opens the database sessions; listens nowhere and writes nothing yet.
    ///
    /// The database may be away: then requests are answered 503, and sessions are opened when it is back.
    /// - Parameter slowStatements: is told of slow statements if none are logged.
    public init(
        _ configuration: Configuration, clock: any WallClock = SystemClock(),
        random: any Randomness = SystemRandomness(), slowStatements: SlowStatements? = nil
    ) async throws {
        let log = Log(configuration.logLevel, clock: clock, descriptor: configuration.logDescriptor)
        let hashingPool = try PasswordHashing.pool(queueLimit: configuration.hashingQueueLimit)
        let picturePool = try BlockingPool(name: "nagz-picture", threads: 1, queueLimit: 16)
        let filePool = try BlockingPool(name: "nagz-file", threads: 1, queueLimit: 8)
        let hashing = PasswordHashing(hashingPool, cost: configuration.passwordCost)
        let tokens = Tokens(
            keys: configuration.tokenKeys, acceptsDevelopmentTokens: configuration.acceptsDevelopmentTokens)
        let options = try ConnectionOptions(url: configuration.databaseURL, settings: Configuration.sessionSettings)
        let heuristics = Heuristics(phrasebook: try Phrasebook.english())
        let prompts = try configuration.models.prompts ?? PromptBook.english()
        let limiter = RateLimiter(isEnforced: configuration.enforcesRateLimits)
        var limits = Database.Limits()
        limits.connections = configuration.connectionsPerLoop

        loops = try (0..<configuration.loops).map { try EventLoop(name: "nagz-loop-\($0)") }
        var applications: [Application] = []
        var members: [LoopBound<LoopMembers>] = []
        let telemetry = Telemetry(
            loops: configuration.loops, exportsSpans: configuration.traces != nil,
            standby: configuration.standbyURL.map { _ in StandbyUse(log) })
        let calls = CallTracer(random, clock, exportingTo: telemetry.spans)
        let slowQueries = SlowQueryLog(log, counting: telemetry.slowQueries)
        let slow = configuration.slowQueries.map(slowQueries.observer) ?? slowStatements
        let exchange = RealtimeExchange(loops, limits: configuration.socketLimits, counters: telemetry.realtime)
        let counts = ProductCounts()
        let sharedModels = SharedModels()
        let answerMemory = configuration.httpLimits.answerBudget
        let exports = ExportLimiter(configuration.httpLimits)
        let checkpointStatus = CheckpointStatus(isOn: configuration.runsSequencer && configuration.auditKeyring != nil)
        for (number, loop) in loops.enumerated() {
            try loop.start()
            let (application, member) = try await Self.compose(on: loop) { poller in
                let database = Database(options, limits: limits, slow: slow, poller: poller)
                database.open()
                let standby = try configuration.standby(telemetry.standby, slow: slow, poller)
                standby?.open()
                let models = ModelGateways(
                    configuration.models, prompts: prompts, shared: sharedModels, calls: calls, poller)
                let mailer = configuration.mail.map { Mailer($0, clock, random, log, poller) }
                let services = Services(
                    database: database, clock: clock, random: random, tokens: tokens, hashing: hashing,
                    heuristics: heuristics, auditKeyring: configuration.auditKeyring,
                    checkpointStatus: checkpointStatus, answerMemory: answerMemory, exports: exports,
                    escalationPlan: configuration.escalationPlan, changes: exchange.changes, picturePool: picturePool,
                    models: models, standby: standby, mailer: mailer)
                let sockets = LoopSockets(
                    exchange, loop: number, poller, memory: answerMemory, limits: configuration.webSocketLimits)
                let routes = RouteTable(services: services, limiter: limiter, log: log)
                Routes.register(
                    in: routes, services: services, telemetry: telemetry, counts: counts,
                    realtime: RealtimeRoute(services, sockets, limiter, log),
                    parties: OutsideParties(configuration), home: configuration.home)
                let application = Application(
                    router: try Router(routes.routes), cors: HeaderFields.cors(origins: configuration.corsOrigins),
                    proxies: configuration.proxies, requestIDField: HeaderFields.requestID,
                    refusal: { status, reason, id in
                        RouteTable.refusal(APIError(status: Int(status.rawValue), reason: reason), id.description)
                    })
                let pulse = LoopPulse(services, telemetry.loops[number], sampling: number == 0 ? telemetry : nil)
                pulse.start()
                let watch = number > 0 ? nil : DatabaseWatch(database, clock, telemetry)
                watch?.start()
                let housekeeping =
                    number > 0
                    ? nil
                    : Housekeeping(
                        database: database, ledger: services.ledger, clock: clock, random: random, log: log,
                        counters: telemetry.retention, purgeDays: configuration.purgeDays)
                housekeeping?.start()
                return (
                    application,
                    LoopBound(
                        value: LoopMembers(
                            database: database, standby: standby, pulse: pulse, watch: watch,
                            housekeeping: housekeeping, sockets: sockets, models: models, mailer: mailer))
                )
            }
            applications.append(application)
            members.append(member)
        }
        self.members = members
        if configuration.runsSequencer, let keys = configuration.auditKeyring, let loop = loops.first {
            sequencing = try await Self.compose(on: loop) { poller in
                let database = Database(options, limits: .ofSequencer, slow: slow, poller: poller)
                let memory = CheckpointMemory(configuration.checkpointFile, pool: filePool)
                let sequencer = Sequencer(
                    database: database, keys: keys, clock: clock, head: checkpointStatus, log: log, memory: memory)
                return LoopBound(value: (sequencer, database))
            }
        } else {
            sequencing = nil
        }
        if configuration.runsScheduler, let loop = loops.first {
            scheduling = try await Self.compose(on: loop) { poller in
                let database = Database(options, limits: .ofScheduler, slow: slow, poller: poller)
                let services = Services(
                    database: database, clock: clock, random: random, tokens: tokens, hashing: hashing,
                    heuristics: heuristics, auditKeyring: configuration.auditKeyring,
                    escalationPlan: configuration.escalationPlan, changes: exchange.changes)
                return LoopBound(value: (Scheduler(services, status: telemetry.scheduler, log: log), database))
            }
        } else {
            scheduling = nil
        }
        if let loop = loops.first {
            realtime = try await Self.compose(on: loop) { poller in
                let database = Database(options, limits: .ofRealtime, slow: slow, poller: poller)
                let hub = RealtimeHub(
                    exchange, database: database, options: options, clock: clock, random: random, log: log)
                return LoopBound(value: (hub, database))
            }
        } else {
            realtime = nil
        }
        if configuration.runsBackgroundCheck, let keys = configuration.auditKeyring {
            let loop = try EventLoop(name: "nagz-check")
            try loop.start()
            let patient = try ConnectionOptions(
                url: configuration.databaseURL,
                settings: Configuration.sessionSettings + [(name: "statement_timeout", value: "60000")])
            let check = try await Self.compose(on: loop) { poller in
                let database = Database(patient, limits: .ofBackgroundCheck, slow: slow, poller: poller)
                let check = BackgroundCheck(
                    database: database, keys: keys, clock: clock, random: random, status: checkpointStatus.pass,
                    log: log,
                    pace: configuration.checkPace)
                return LoopBound(value: (check, database))
            }
            checking = (loop, check)
        } else {
            checking = nil
        }
        if configuration.runsDeliveries {
            let loop = try EventLoop(name: "nagz-deliveries")
            try loop.start()
            let worker = try await Self.compose(on: loop) { poller in
                let database = Database(options, limits: .ofDeliveries, slow: slow, poller: poller)
                let services = Services(
                    database: database, clock: clock, random: random, tokens: tokens, hashing: hashing,
                    heuristics: heuristics, auditKeyring: configuration.auditKeyring,
                    escalationPlan: configuration.escalationPlan)
                let worker = DeliveryWorker(
                    services, configuration.deliveries, figures: telemetry.deliveries, spans: telemetry.spans, log: log)
                return LoopBound(value: (worker, database))
            }
            delivering = (loop, worker)
        } else {
            delivering = nil
        }
        if let collector = configuration.traces, let spans = telemetry.spans {
            let loop = try EventLoop(name: "nagz-traces")
            try loop.start()
            let instance = hexadecimal(random.bytes(16))
            let exporter = try await Self.compose(on: loop) { poller in
                LoopBound(value: SpanExporter(spans, to: collector, instance: instance, log: log, poller))
            }
            tracing = (loop, exporter)
        } else {
            tracing = nil
        }
        self.answerMemory = answerMemory
        self.exports = exports
        self.telemetry = telemetry
        self.hashingPool = hashingPool
        self.picturePool = picturePool
        self.filePool = filePool
        self.log = log
        routes = applications.first?.router.routes.map { "\($0.method) \($0.template)" } ?? []
        http = HTTPServer(
            applications, on: loops, limits: configuration.httpLimits, answerMemory: answerMemory,
            observer: RequestWatch(telemetry: telemetry, log: log, clock: clock),
            samplesTraces: configuration.traces != nil)
        metrics = HTTPServer(
            [try MetricsListener.application(telemetry, checkpointStatus, clock)], on: Array(loops.prefix(1)),
            limits: MetricsListener.limits)
    }

    /// The parts of one loop besides its requests.
    private struct LoopMembers {
        let database: Database
        let standby: Standby?
        let pulse: LoopPulse
        /// On the first loop only.
        let watch: DatabaseWatch?
        /// On the first loop only.
        let housekeeping: Housekeeping?
        let sockets: LoopSockets
        let models: ModelGateways
        let mailer: Mailer?
    }

    private static func compose<Value: Sendable>(
        on loop: isolated EventLoop, _ body: (Poller) throws -> Value
    ) throws -> Value {
        try body(loop.poller)
    }

    /// Starts to serve, and to keep the audit log.
    /// - Returns: the port, which the kernel chose when 0 was given.
    public func listen(host: String, port: UInt16) async throws(SystemError) -> UInt16 {
        let port = try await http.listen(on: host, port: port)
        if let sequencing, let loop = loops.first { await Self.start(sequencing, on: loop) }
        if let scheduling, let loop = loops.first { await Self.start(scheduling, on: loop) }
        if let realtime, let loop = loops.first { await Self.start(realtime, on: loop) }
        if let checking { await Self.start(checking.check, on: checking.loop) }
        if let delivering { await Self.start(delivering.worker, on: delivering.loop) }
        if let tracing { await Self.start(tracing.exporter, on: tracing.loop) }
        return port
    }

    /// Starts to serve `/metrics`, and nothing else, at an address of its own.
    /// - Returns: the port, which the kernel chose when 0 was given.
    public func listenForMetrics(host: String, port: UInt16) async throws(SystemError) -> UInt16 {
        try await metrics.listen(on: host, port: port, backlog: 16)
    }

    /// From now on `/health/ready` answers 503, so that proxies send no more requests; everything else goes on.
    public func announceShutDown() { telemetry.beginDraining() }

    /// Stops accepting connections, lets running requests finish, and stops everything.
    public func shutDown(within time: Duration = .seconds(8)) async {
        announceShutDown()
        async let socketsClosed: Void = closeSockets()
        await http.drain(within: time)
        await socketsClosed
        // Those that were opened meanwhile.
        await closeSockets()
        if let realtime, let loop = loops.first {
            try? await loop.task { _ in await realtime.value.0.endPresence() }
            await Self.stop(realtime, on: loop)
        }
        await metrics.drain(within: .zero)
        if let delivering {
            await Self.finish(delivering.worker, on: delivering.loop)
            delivering.loop.stop()
        }
        if let checking {
            await Self.stop(checking.check, on: checking.loop)
            checking.loop.stop()
        }
        if let scheduling, let loop = loops.first { await Self.stop(scheduling, on: loop) }
        if let sequencing, let loop = loops.first { await Self.stop(sequencing, on: loop) }
        for (loop, member) in zip(loops, members) { await Self.close(member, on: loop) }
        if let tracing {
            try? await tracing.loop.task { _ in await tracing.exporter.value.finish() }
            tracing.loop.stop()
        }
        for loop in loops { loop.stop() }
        hashingPool.stop()
        picturePool.stop()
        filePool.stop()
        log.stop()
    }

    private func closeSockets() async {
        for (loop, member) in zip(loops, members) {
            try? await loop.task { _ in await member.value.sockets.drain() }
        }
    }

    private static func start<Job: BackgroundJob>(
        _ job: LoopBound<(Job, Database)>, on loop: isolated EventLoop
    ) {
        job.value.1.open()
        job.value.0.start()
    }

    private static func start(_ exporter: LoopBound<SpanExporter>, on loop: isolated EventLoop) {
        exporter.value.start()
    }

    private static func stop<Job: BackgroundJob>(
        _ job: LoopBound<(Job, Database)>, on loop: isolated EventLoop
    ) {
        job.value.0.stop()
        job.value.1.close()
    }

    /// Deliveries under way end before their database sessions.
    private static func finish(_ worker: LoopBound<(DeliveryWorker, Database)>, on loop: EventLoop) async {
        try? await loop.task { _ in
            worker.value.0.stop()
            await worker.value.0.finish()
            worker.value.1.close()
        }
    }

    private static func close(_ member: LoopBound<LoopMembers>, on loop: isolated EventLoop) {
        member.value.models.close()
        member.value.mailer?.close()
        member.value.standby?.close()
        member.value.database.close()
    }
}

extension Database.Limits {
    /// Two sessions, which may wait: one reads in a snapshot while the other keeps the pass.
    fileprivate static var ofBackgroundCheck: Self {
        var limits = ofSequencer
        limits.connections = 2
        return limits
    }

    /// One session, with a long timeout: no request waits for it.
    fileprivate static var ofSequencer: Self {
        var limits = Self()
        limits.connections = 1
        limits.batchTimeout = .seconds(90)
        return limits
    }

    /// One session sends notifications and reads what happened; another listens.
    fileprivate static var ofRealtime: Self {
        var limits = Self()
        limits.connections = 1
        return limits
    }

    /// Short statements only.
    fileprivate static var ofDeliveries: Self {
        var limits = Self()
        limits.connections = 2
        return limits
    }

    /// One session holds the lock of a round, two carry out what is due.
    fileprivate static var ofScheduler: Self {
        var limits = Self()
        limits.connections = 3
        return limits
    }
}

extension APIError {
    /// The answer to a request that HTTP refused before any operation saw it.
    fileprivate init(status: Int, reason: String) {
        let code = ErrorCode.allCases.first { $0.status == status } ?? .malformedRequest
        self.init(code, reason, status: status)
    }
}
