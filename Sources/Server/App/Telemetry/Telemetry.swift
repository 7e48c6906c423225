import Domain
import Reactor
import Synchronization

/// The server's figures, gathered from all loops and readable from any thread.
final class Telemetry: Sendable {
    let requests = RequestCounters()
    let connectionsOpened = Counter()
    let connectionsClosed = Counter()
    let connectionsRefused = Counter()
    /// The figures of each loop.
    let loops: [LoopGauges]
    let scheduler = SchedulerStatus()
    let realtime = RealtimeCounters()
    /// The figures of the deliveries, one for each channel.
    let deliveries = DeliveryChannel.allCases.map { DeliveryFigures($0) }
    let retention = RetentionCounters()
    /// The counter of batches of statements that took long.
    let slowQueries = Counter()
    /// The counts of reads by the standby; nil where there is none.
    let standby: StandbyUse?
    /// The queue of spans of sampled traces; nil where none are exported.
    let spans: SpanQueue?

    private let lastDatabaseFigures = Locked(DatabaseFigures?.none)
    private let drainingFlag = Atomic(false)
    private let startedAt = MonotonicTime.now()
    private let history = Locked(History())

    init(loops: Int, exportsSpans: Bool = false, standby: StandbyUse? = nil) {
        self.standby = standby
        self.loops = (0..<loops).map { _ in LoopGauges() }
        spans = exportsSpans ? SpanQueue() : nil
    }

    /// Whether the server has begun to stop.
    var isDraining: Bool { drainingFlag.load(ordering: .relaxed) }
    func beginDraining() { drainingFlag.store(true, ordering: .relaxed) }

    /// The database's figures that were read last; nil while the database does not answer.
    var databaseFigures: DatabaseFigures? { lastDatabaseFigures.withLock { $0 } }
    func setDatabaseFigures(_ figures: DatabaseFigures?) { lastDatabaseFigures.withLock { $0 = figures } }

    var openConnections: Int { connectionsOpened.value - connectionsClosed.value }
    var uptime: Duration { MonotonicTime.now().elapsed(since: startedAt) }

    /// Takes a sample for the charts of the dashboard; called every `History.period`.
    func recordSample() {
        let sample = currentSample
        history.withLock { $0.add(sample) }
    }

    /// The samples of the last five minutes, oldest first, and the current figures.
    var samples: [Sample] { history.withLock { $0.samples } + [currentSample] }

    private var currentSample: Sample {
        let totals = requests.totals
        return Sample(
            at: .now(), requests: totals.requests, failures: totals.failures, durationCounts: totals.durationCounts,
            openConnections: openConnections, processorSeconds: ProcessFigures.processorSeconds(),
            residentBytes: ProcessFigures.residentBytes())
    }

    /// The figures of one moment. Requests, failures, durations and processor time are totals since the start.
    struct Sample: Sendable {
        let at: MonotonicTime
        let requests: Int
        /// The number of requests with a 5xx response.
        let failures: Int
        /// The counts of the buckets of `Histogram`.
        let durationCounts: [Int]
        let openConnections: Int
        let processorSeconds: Double
        let residentBytes: Int
    }

    /// The samples of the last five minutes.
    struct History {
        static let period = Duration.seconds(5)
        private static let limit = 60
        fileprivate var samples: [Sample] = []

        fileprivate mutating func add(_ sample: Sample) {
            if samples.count >= Self.limit { samples.removeFirst() }
            samples.append(sample)
        }
    }
}
