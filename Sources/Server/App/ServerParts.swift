import Audit
import Contract
import Domain
import HTTP
import NagzAI
import Postgres
import Reactor

/// The parts that a server's loops and jobs share. It creates each loop's own parts, and the jobs.
struct ServerParts: Sendable {
    let configuration: Configuration
    let clock: any WallClock
    let random: any Randomness
    let log: Log
    let telemetry: Telemetry
    let checkpointStatus: CheckpointStatus
    /// The memory for answers, shared by the handlers and connections of all loops.
    let answerMemory: MemoryBudget
    /// The limiter of the exports of all loops.
    let exportLimiter: ExportLimiter
    private let tokens: Tokens
    private let hashing: PasswordHashing
    private let heuristics: Heuristics
    private let prompts: PromptBook
    private let hashingPool: BlockingPool
    private let picturePool: BlockingPool
    private let filePool: BlockingPool
    private let limiter: RateLimiter
    private let realtimeExchange: RealtimeExchange
    private let productCounts = ProductCounts()
    private let sharedModels = SharedModels()
    /// The observer of slow statements: the log, or otherwise the one that `init` got; nil for none.
    private let slowStatements: SlowStatements?

    init(
        _ configuration: Configuration, _ loops: [EventLoop], _ clock: any WallClock, _ random: any Randomness,
        _ slowStatements: SlowStatements?
    ) throws {
        (self.configuration, self.clock, self.random) = (configuration, clock, random)
        let log = Log(configuration.logLevel, clock: clock, descriptor: configuration.logDescriptor)
        self.log = log
        hashingPool = try PasswordHashing.startPool(queueLimitPerPurpose: configuration.hashingQueueLimitPerPurpose)
        picturePool = try BlockingPool(name: "nagz-picture", threads: 1, queueLimitPerLane: 16)
        filePool = try BlockingPool(name: "nagz-file", threads: 1, queueLimitPerLane: 8)
        hashing = PasswordHashing(hashingPool, cost: configuration.passwordCost)
        tokens = Tokens(
            keys: configuration.tokenKeys, acceptsDevelopmentTokens: configuration.acceptsDevelopmentTokens)
        heuristics = Heuristics(phrasebook: try Phrasebook.english())
        prompts = try configuration.models.prompts ?? PromptBook.english()
        limiter = RateLimiter(isEnforced: configuration.enforcesRateLimits)
        telemetry = Telemetry(
            loops: configuration.loops, exportsSpans: configuration.traceCollector != nil,
            standby: configuration.standbyURL.map { _ in StandbyUse(log) })
        let slowQueries = SlowQueryLog(log, counting: telemetry.slowQueries)
        self.slowStatements = configuration.slowQueryThreshold.map(slowQueries.observer) ?? slowStatements
        realtimeExchange = RealtimeExchange(loops, limits: configuration.socketLimits, counters: telemetry.realtime)
        answerMemory = configuration.httpLimits.makeAnswerBudget()
        exportLimiter = ExportLimiter(configuration.httpLimits)
        checkpointStatus = CheckpointStatus(isOn: configuration.runsSequencer && configuration.auditKeyring != nil)
    }

    /// Stops the threads that belong to no loop.
    func stop() {
        hashingPool.stop()
        picturePool.stop()
        filePool.stop()
        log.stop()
    }

    private func makeDatabase(
        _ limits: Database.Limits, settings: [(name: String, value: String)] = [], _ poller: Poller
    ) throws -> Database {
        let options = try ConnectionOptions(
            url: configuration.databaseURL, settings: Configuration.databaseSessionSettings + settings)
        return Database(options, limits: limits, slowStatements: slowStatements, poller: poller)
    }

    // MARK: Loops

    /// Creates the application of one loop and the loop's other parts, and starts the other parts.
    func startLoopParts(of number: Int, _ poller: Poller) throws -> (Application, LoopBound<LoopParts>) {
        let database = try makeDatabase(Database.Limits(connections: configuration.databaseConnectionsPerLoop), poller)
        database.open()
        let standby = try configuration.makeStandby(telemetry.standby, slowStatements: slowStatements, poller)
        standby?.open()
        let models = ModelGateways(
            configuration.models, prompts: prompts, shared: sharedModels,
            calls: CallTracer(random, clock, exportingTo: telemetry.spans), poller)
        let mailer = configuration.mail.map { Mailer($0, clock, random, log, poller) }
        let textMessenger = TextMessenger(configuration.deliveries, clock, random, log, poller)
        let services = makeServices(database, models, standby, mailer, textMessenger)
        let sockets = LoopSockets(
            realtimeExchange, loop: number, poller, memory: answerMemory, limits: configuration.webSocketLimits)
        let application = try makeApplication(services, sockets)
        let isFirst = number == 0
        let loopParts = LoopParts(
            database: database, standby: standby,
            loopMonitor: LoopMonitor(services, telemetry.loops[number], sampling: isFirst ? telemetry : nil),
            databaseMonitor: isFirst ? DatabaseMonitor(database, clock, telemetry) : nil,
            housekeeping: isFirst
                ? Housekeeping(
                    database: database, ledger: services.ledger, clock: clock, random: random, log: log,
                    counters: telemetry.retention, purgeDays: configuration.purgeDays) : nil,
            sockets: sockets, models: models, mailer: mailer, textMessenger: textMessenger)
        loopParts.loopMonitor.start()
        loopParts.databaseMonitor?.start()
        loopParts.housekeeping?.start()
        return (application, LoopBound(value: loopParts))
    }

    private func makeApplication(_ services: Services, _ sockets: LoopSockets) throws -> Application {
        let routes = RouteTable(services: services, limiter: limiter, log: log)
        Routes.register(
            in: routes, services: services, telemetry: telemetry, productCounts: productCounts,
            realtime: RealtimeRoute(services, sockets, limiter, log),
            parties: ThirdPartyRecipients(configuration), homeRedirect: configuration.homeRedirect)
        return Application(
            router: try Router(routes.routes), cors: HeaderFields.corsPolicy(origins: configuration.corsOrigins),
            proxies: configuration.proxies, requestIDField: HeaderFields.requestID,
            refusal: { status, reason, id in
                RouteTable.errorResponse(APIError(status: Int(status.rawValue), reason: reason), id.description)
            })
    }

    // MARK: Jobs

    /// Creates the jobs of this instance, in the order in which they are started and ended.
    func makeJobs(_ loops: [EventLoop]) async throws -> [RunningJob] {
        guard let loop = loops.first else { return [] }
        let keys = configuration.auditKeyring
        var jobs = [try await RunningJob(on: loop, makeRealtimeHub)]
        if configuration.runsDeliveries { jobs.append(try await RunningJob("nagz-deliveries", makeDeliveryWorker)) }
        if configuration.runsBackgroundCheck, let keys {
            jobs.append(try await RunningJob("nagz-check") { try makeBackgroundCheck(keys, $0) })
        }
        if configuration.runsScheduler { jobs.append(try await RunningJob(on: loop, makeScheduler)) }
        if configuration.runsSequencer, let keys {
            jobs.append(try await RunningJob(on: loop) { try makeSequencer(keys, $0) })
        }
        if let collector = configuration.traceCollector, let spans = telemetry.spans {
            let instance = hexadecimal(random.bytes(16))
            jobs.append(
                try await RunningJob("nagz-traces") { poller in
                    (SpanExporter(spans, to: collector, instance: instance, log: log, poller), nil)
                })
        }
        return jobs
    }

    private func makeRealtimeHub(_ poller: Poller) throws -> (any BackgroundJob, Database?) {
        let database = try makeDatabase(RealtimeHub.limits, poller)
        let options = try ConnectionOptions(
            url: configuration.databaseURL, settings: Configuration.databaseSessionSettings)
        let hub = RealtimeHub(
            realtimeExchange, database: database, options: options, clock: clock, random: random, log: log)
        return (hub, database)
    }

    private func makeDeliveryWorker(_ poller: Poller) throws -> (any BackgroundJob, Database?) {
        let database = try makeDatabase(DeliveryWorker.limits, poller)
        let worker = DeliveryWorker(
            makeServices(database), configuration.deliveries, figures: telemetry.deliveries, spans: telemetry.spans,
            log: log)
        return (worker, database)
    }

    private func makeBackgroundCheck(_ keys: AuditKeyring, _ poller: Poller) throws -> (any BackgroundJob, Database?) {
        let database = try makeDatabase(
            BackgroundCheck.limits, settings: [(name: "statement_timeout", value: "60000")], poller)
        let check = BackgroundCheck(
            database: database, keys: keys, clock: clock, random: random, status: checkpointStatus.passStatus, log: log,
            pace: configuration.checkPace)
        return (check, database)
    }

    private func makeScheduler(_ poller: Poller) throws -> (any BackgroundJob, Database?) {
        let database = try makeDatabase(Scheduler.limits, poller)
        return (Scheduler(makeServices(database), status: telemetry.scheduler, log: log), database)
    }

    private func makeSequencer(_ keys: AuditKeyring, _ poller: Poller) throws -> (any BackgroundJob, Database?) {
        let database = try makeDatabase(Sequencer.limits, poller)
        let sequencer = Sequencer(
            database: database, keys: keys, clock: clock, status: checkpointStatus, log: log,
            memory: CheckpointMemory(configuration.checkpointFile, pool: filePool))
        return (sequencer, database)
    }

    /// Creates the services of requests or of a job. A job asks no models, reads no standby and sends no messages about
    /// accounts.
    private func makeServices(
        _ database: Database, _ models: ModelGateways? = nil, _ standby: Standby? = nil, _ mailer: Mailer? = nil,
        _ textMessenger: TextMessenger? = nil
    ) -> Services {
        Services(
            database: database, clock: clock, random: random, tokens: tokens, hashing: hashing,
            heuristics: heuristics, auditKeyring: configuration.auditKeyring, checkpointStatus: checkpointStatus,
            answerMemory: answerMemory, exportLimiter: exportLimiter, escalationPlan: configuration.escalationPlan,
            changes: realtimeExchange.changes, picturePool: picturePool,
            models: models ?? ModelGateways(ModelOptions(), database.poller), standby: standby, mailer: mailer,
            textMessenger: textMessenger, webPushKey: configuration.deliveries.webPush?.publicKey)
    }
}

/// The parts of one loop that are not routes.
struct LoopParts {
    let database: Database
    let standby: Standby?
    let loopMonitor: LoopMonitor
    /// The monitor of the database; nil except on the first loop.
    let databaseMonitor: DatabaseMonitor?
    /// The housekeeping; nil except on the first loop.
    let housekeeping: Housekeeping?
    let sockets: LoopSockets
    let models: ModelGateways
    let mailer: Mailer?
    let textMessenger: TextMessenger?

    func close() {
        models.close()
        mailer?.close()
        textMessenger?.close()
        standby?.close()
        database.close()
    }
}

extension APIError {
    /// Creates the answer to a request that HTTP refused before any operation saw it.
    fileprivate init(status: Int, reason: String) {
        let code = ErrorCode.allCases.first { $0.status == status } ?? .malformedRequest
        self.init(code, reason, status: status)
    }
}
