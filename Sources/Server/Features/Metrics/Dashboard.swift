import Contract
import Domain
import Reactor

/// The figures of a dashboard: rates of the last minute, and charts of the last five minutes.
enum Dashboard {
    /// Returns the figures and charts.
    /// - Parameter counts: the numbers of nags, people and families; nil if they are not shown.
    static func figures(
        _ telemetry: Telemetry, _ counts: ProductCounts.Counts?, at now: Timestamp
    ) -> MetricsResponse {
        let samples = telemetry.samples
        let steps = zip(samples, samples.dropFirst()).filter { $0.at < $1.at }.map { Step($0, $1) }
        // The newest step may be very short, so the rates are computed over the last minute.
        let lastMinute = samples.count > 1 ? Step(samples[max(0, samples.count - 14)], samples[samples.count - 1]) : nil
        let lag = telemetry.loops.map(\.lagNanoseconds.value).max() ?? 0
        let (sessions, waiting) = (sum(telemetry, \.databaseSessions), sum(telemetry, \.waitingStatements))
        return MetricsResponse(
            metrics: [
                figure(
                    "requests_per_second", "Requests", lastMinute?.requestsPerSecond, "1/s",
                    chartValues: steps.map(\.requestsPerSecond)),
                figure(
                    "failures", "Failed requests", lastMinute?.failurePercent, "%", above: 1,
                    chartValues: steps.map(\.failurePercent)
                ),
                figure(
                    "latency_p50", "Median latency", lastMinute?.latencyMilliseconds(0.5), "ms", above: 50,
                    chartValues: steps.map { $0.latencyMilliseconds(0.5) }),
                figure(
                    "latency_p99", "Slowest hundredth", lastMinute?.latencyMilliseconds(0.99), "ms", above: 500,
                    chartValues: steps.map { $0.latencyMilliseconds(0.99) }),
                figure(
                    "connections", "Open connections", Double(telemetry.openConnections), "",
                    chartValues: samples.map { Double($0.openConnections) }),
                figure(
                    "connections_refused", "Refused connections", Double(telemetry.connectionsRefused.value), "",
                    above: 0),
                figure("database_sessions", "Database sessions", Double(sessions), "", below: 1),
                figure("database_waiting", "Waiting for the database", Double(waiting), "", above: 50),
                figure("loop_lag", "Event loop lag", Double(lag) / 1e6, "ms", above: 100),
                figure(
                    "memory", "Memory", megabytes(ProcessFigures.residentBytes()), "MB", above: 1_024,
                    chartValues: samples.map { megabytes($0.residentBytes) }),
                figure(
                    "processor", "Processor", lastMinute?.processorPercent, "%",
                    chartValues: steps.map(\.processorPercent)),
                figure("uptime", "Up for", telemetry.uptime / .seconds(1), "s"),
            ] + deliveryFigures(telemetry.deliveries, now) + (counts.map(productFigures) ?? []))
    }

    /// Returns the figures of this instance's deliveries, over all channels: counts since the instance started, and how
    /// long the oldest waiting notification has waited.
    private static func deliveryFigures(_ channels: [DeliveryFigures], _ now: Timestamp) -> [Metric] {
        func sum(_ counter: KeyPath<DeliveryFigures, Counter>) -> Double {
            Double(channels.reduce(0) { $0 + $1[keyPath: counter].value })
        }
        let oldest = channels.map { $0.queueAge(at: now).microseconds }.max() ?? 0
        return [
            figure("deliveries_sent", "Notifications sent", sum(\.sent), ""),
            figure("deliveries_retried", "Notifications tried again", sum(\.retried), ""),
            figure("deliveries_failed", "Notifications given up", sum(\.dead), "", above: 0),
            figure("deliveries_queue_age", "Oldest waiting notification", Double(oldest) / 1e6, "s", above: 300),
        ]
    }

    private static func productFigures(_ counts: ProductCounts.Counts) -> [Metric] {
        [
            figure("nags_open", "Open nags", Double(counts.openNags), ""),
            figure("nags_completed", "Completed nags", Double(counts.completedNags), ""),
            figure("nags_missed", "Missed nags", Double(counts.missedNags), ""),
            figure("users", "Users", Double(counts.users), ""),
            figure("families", "Families", Double(counts.families), ""),
        ]
    }

    /// Returns a figure; a missing value is shown as 0.
    /// - Parameters:
    ///   - above: the value above which clients show a warning; nil for none.
    ///   - below: the value below which clients show a warning; nil for none.
    private static func figure(
        _ key: String, _ label: String, _ value: Double?, _ unit: String, above: Double? = nil, below: Double? = nil,
        chartValues: [Double]? = nil
    ) -> Metric {
        Metric(
            key: key, label: label, value: rounded(value ?? 0), unit: unit, warnAbove: above, warnBelow: below,
            sparklineHistory: chartValues.map { $0.map(rounded) })
    }

    private static func sum(_ telemetry: Telemetry, _ gauge: KeyPath<LoopGauges, Counter>) -> Int {
        telemetry.loops.reduce(0) { $0 + $1[keyPath: gauge].value }
    }

    private static func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
    private static func megabytes(_ bytes: Int) -> Double { Double(bytes) / 1_048_576 }

    /// The difference between two samples.
    private struct Step {
        let requestsPerSecond: Double
        let failurePercent: Double
        /// The processor time as a percentage of one processor's; above 100 if several were busy.
        let processorPercent: Double
        /// The requests by duration, in the buckets of `Histogram`.
        private let durationCounts: [Int]

        init(_ first: Telemetry.Sample, _ last: Telemetry.Sample) {
            let seconds = max(last.at.elapsed(since: first.at) / .seconds(1), 0.001)
            let requests = last.requests - first.requests
            requestsPerSecond = Double(requests) / seconds
            failurePercent = requests > 0 ? 100 * Double(last.failures - first.failures) / Double(requests) : 0
            processorPercent = 100 * (last.processorSeconds - first.processorSeconds) / seconds
            durationCounts = zip(last.durationCounts, first.durationCounts).map { $0 - $1 }
        }

        /// Returns a quantile of the latency in milliseconds.
        func latencyMilliseconds(_ quantile: Double) -> Double {
            Histogram.quantileMilliseconds(quantile, of: durationCounts)
        }
    }
}
