import Audit
import Domain
import TimeZones

/// The server's figures in the text format of Prometheus: base units, counters that end in `_total`, routes by
/// template.
struct PrometheusText {
    private(set) var text = ""

    init(_ telemetry: Telemetry, _ checkpointStatus: CheckpointStatus, at now: Timestamp) {
        text.reserveCapacity(16_384)
        let series = telemetry.requests.series
        writeHeader("nagz_http_requests_total", "counter", "Requests answered.")
        for one in series {
            for (status, count) in one.counts {
                writeSample("nagz_http_requests_total", Self.labels(one) + #",status="\#(status)""#, String(count))
            }
        }
        writeHeader(
            "nagz_http_request_duration_seconds", "histogram", "From a request's first byte to its answer's last.")
        for one in series { writeHistogram("nagz_http_request_duration_seconds", Self.labels(one), one.durations) }
        writeMetric("nagz_http_received_bytes_total", "counter", "Bytes of requests.", telemetry.requests.bytesIn.value)
        writeMetric("nagz_http_sent_bytes_total", "counter", "Bytes of answers.", telemetry.requests.bytesOut.value)
        writeMetric("nagz_http_connections", "gauge", "Open connections.", telemetry.openConnections)
        writeMetric(
            "nagz_http_connections_total", "counter", "Connections accepted.", telemetry.connectionsOpened.value)
        writeMetric(
            "nagz_http_connections_refused_total", "counter", "Connections turned away.",
            telemetry.connectionsRefused.value)

        writePerLoop(
            telemetry, "nagz_database_sessions", "gauge", "Open sessions with the database.", \.databaseSessions)
        writePerLoop(
            telemetry, "nagz_database_waiting", "gauge", "Requests waiting for a session.", \.waitingStatements)
        writePerLoop(
            telemetry, "nagz_database_refused_total", "counter", "Statements refused by a full or slow queue.",
            \.refusals)
        writeMetric(
            "nagz_slow_queries_total", "counter", "Batches of statements that took long.", telemetry.slowQueries.value)
        if let standby = telemetry.standby {
            writeHeader("nagz_standby_reads_total", "counter", "Long pages of the feed asked of the standby.")
            writeSample("nagz_standby_reads_total", #"result="answered""#, String(standby.answered.value))
            writeSample("nagz_standby_reads_total", #"result="behind""#, String(standby.behind.value))
            writeSample("nagz_standby_reads_total", #"result="unavailable""#, String(standby.unavailable.value))
        }
        writePerLoop(telemetry, "nagz_ledger_writes_total", "counter", "Acts committed.", \.writes)
        writePerLoop(telemetry, "nagz_ledger_batches_total", "counter", "Transactions that acts shared.", \.batches)
        writePerLoop(telemetry, "nagz_ledger_lost_races_total", "counter", "Decisions taken again.", \.lostRaces)
        writePerLoop(
            telemetry, "nagz_ledger_held_rows_total", "counter", "Decisions taken holding the row.", \.lockedRows)
        writeHeader("nagz_loop_lag_seconds", "gauge", "How late the loop came to its last pulse.")
        for (number, loop) in telemetry.loops.enumerated() {
            writeSample("nagz_loop_lag_seconds", #"loop="\#(number)""#, "\(Double(loop.lagNanoseconds.value) / 1e9)")
        }

        writeDatabase(telemetry.databaseFigures)
        writeAuditLog(checkpointStatus, now)
        writeScheduler(telemetry.scheduler, now)
        writeRealtime(telemetry.realtime)
        writeDeliveries(telemetry.deliveries, now)
        writeHeader("nagz_retention_rows_total", "counter", "Rows that retention has ended.")
        for (name, rows) in telemetry.retention.rows {
            writeSample("nagz_retention_rows_total", #"data="\#(name)""#, String(rows))
        }
        if let spans = telemetry.spans {
            writeHeader("nagz_trace_spans_total", "counter", "Spans sent to the collector, and dropped.")
            writeSample("nagz_trace_spans_total", #"result="exported""#, String(spans.exported.value))
            writeSample("nagz_trace_spans_total", #"result="dropped""#, String(spans.dropped.value))
        }
        writeHeader("process_cpu_seconds_total", "counter", "Processor time used.")
        writeSample("process_cpu_seconds_total", "", "\(ProcessFigures.processorSeconds())")
        writeMetric("process_resident_memory_bytes", "gauge", "Memory in use.", ProcessFigures.residentBytes())
        writeMetric("process_open_fds", "gauge", "Open descriptors.", ProcessFigures.openDescriptors())
        writeMetric("process_max_fds", "gauge", "Descriptors it may open.", ProcessFigures.descriptorLimit())
        if let release = ZoneDatabase.system.release {
            writeHeader("nagz_time_zones_age_seconds", "gauge", "Since the system's time zone database was built.")
            writeSample(
                "nagz_time_zones_age_seconds", #"release="\#(release.name ?? "unknown")""#,
                "\(Double(release.age(at: now).microseconds) / 1e6)")
        }
        writeHeader("nagz_uptime_seconds", "gauge", "Since the server was started.")
        writeSample("nagz_uptime_seconds", "", "\(telemetry.uptime / .seconds(1))")
    }

    /// Writes the scheduler's figures. The lag is the time for which the oldest due nag has been due.
    private mutating func writeScheduler(_ status: SchedulerStatus, _ now: Timestamp) {
        guard status.isOn else { return }
        writeMetric("nagz_scheduler_steps_total", "counter", "Steps of escalation taken.", status.steps.value)
        writeMetric(
            "nagz_scheduler_attempts_total", "counter", "Attempts to escalate a nag that did not fail.",
            status.completedAttempts.value)
        writeMetric("nagz_scheduler_failures_total", "counter", "Attempts that failed.", status.failedAttempts.value)
        writeMetric(
            "nagz_scheduler_leading", "gauge", "Whether this instance had the turn in its last round.",
            status.current.isLeading ? 1 : 0)
        writeMetric(
            "nagz_scheduler_late", "gauge", "Whether nags do not escalate in time.",
            status.verdict(at: now) == .late ? 1 : 0)
        writeHeader("nagz_scheduler_lag_seconds", "gauge", "How long the nag that waits longest has been due.")
        writeSample("nagz_scheduler_lag_seconds", "", "\(Double(status.lag(at: now).microseconds) / 1e6)")
    }

    private mutating func writeRealtime(_ counters: RealtimeCounters) {
        writeMetric("nagz_sockets", "gauge", "Open WebSockets.", counters.openSockets.value)
        writeMetric("nagz_sockets_opened_total", "counter", "WebSockets opened.", counters.openedSockets.value)
        writeHeader("nagz_sockets_closed_total", "counter", "WebSockets closed or refused, by reason.")
        for reason in RealtimeCounters.CloseReason.allCases {
            writeSample(
                "nagz_sockets_closed_total", #"reason="\#(reason.rawValue)""#,
                String(counters.closingCount(for: reason)))
        }
        writeMetric("nagz_socket_frames_total", "counter", "Events sent to WebSockets.", counters.sentFrames.value)
        writeMetric(
            "nagz_socket_events_coalesced_total", "counter", "Events that became part of another one's frame.",
            counters.coalescedEvents.value)
        writeMetric(
            "nagz_realtime_listening", "gauge", "Whether changes by other instances are heard of at once.",
            counters.isHubListening.value)
    }

    /// Writes the figures of the audit log. `nagz_audit_alarm` is 1 if an operator should look into it.
    private mutating func writeAuditLog(_ checkpointStatus: CheckpointStatus, _ now: Timestamp) {
        guard checkpointStatus.isOn else { return }
        let snapshot = checkpointStatus.current
        writeMetric(
            "nagz_audit_alarm", "gauge", "Whether the audit log is late or broken.",
            checkpointStatus.alarm(at: now) == .none ? 0 : 1)
        writeMetric(
            "nagz_audit_log_entries", "gauge", "Entries in the audit log.",
            snapshot.checkpoint.map { Int($0.size) } ?? 0)
        writeHeader(
            "nagz_audit_exposure_seconds", "gauge", "How long the oldest entry may have waited for a checkpoint.")
        writeSample("nagz_audit_exposure_seconds", "", "\(Double(snapshot.exposure(at: now).microseconds) / 1e6)")
        writeMetric(
            "nagz_audit_open_findings", "gauge", "Findings of verifications on request that nobody has acknowledged.",
            checkpointStatus.passStatus.openFindingCount)
        writeCheck(checkpointStatus.passStatus, now)
        guard let checkpoint = snapshot.checkpoint else { return }
        writeHeader("nagz_audit_checkpoint_age_seconds", "gauge", "Since the newest checkpoint was signed.")
        writeSample(
            "nagz_audit_checkpoint_age_seconds", "", "\(Double(max(0, (now - checkpoint.time).microseconds)) / 1e6)")
    }

    /// Writes the figures of the background check of the log: the running pass and the last full one.
    private mutating func writeCheck(_ pass: PassStatus, _ now: Timestamp) {
        guard let status = pass.current else { return }
        writeMetric(
            "nagz_audit_check_alarm", "gauge", "Whether the log does not hold or does not explain the state.",
            status.verdict == .unexplained ? 1 : 0)
        writeMetric(
            "nagz_audit_check_findings", "gauge", "What the log does not explain.",
            Int(max(status.findings, status.lastPassFindings)))
        writeMetric(
            "nagz_audit_check_families", "gauge", "Families that the pass under way has checked.", Int(status.families))
        guard let finished = status.finishedAt else { return }
        writeHeader("nagz_audit_check_age_seconds", "gauge", "Since the last full pass ended.")
        writeSample("nagz_audit_check_age_seconds", "", "\(Double(max(0, (now - finished).microseconds)) / 1e6)")
    }

    private static func labels(_ series: RequestCounters.Series) -> String {
        #"method="\#(series.method)",route="\#(series.route)""#
    }

    /// Writes the header of a metric.
    mutating func writeHeader(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    /// Writes a sample of the metric.
    /// - Parameter labels: as `name="value"`, joined by commas. The server's values need no escaping.
    mutating func writeSample(_ name: String, _ labels: String, _ value: String) {
        text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
    }

    /// Writes a metric that has one sample without labels.
    mutating func writeMetric(_ name: String, _ type: String, _ help: String, _ value: Int) {
        writeHeader(name, type, help)
        writeSample(name, "", String(value))
    }

    /// Writes a metric that has one sample for each event loop.
    private mutating func writePerLoop(
        _ telemetry: Telemetry, _ name: String, _ type: String, _ help: String, _ gauge: KeyPath<LoopGauges, Counter>
    ) {
        writeHeader(name, type, help)
        for (number, loop) in telemetry.loops.enumerated() {
            writeSample(name, #"loop="\#(number)""#, String(loop[keyPath: gauge].value))
        }
    }

    /// Writes a histogram; nothing for an empty one. In Prometheus each bucket includes all smaller ones.
    private mutating func writeHistogram(_ name: String, _ labels: String, _ histogram: Histogram) {
        let counts = histogram.counts
        let totalCount = counts.reduce(0, +)
        guard totalCount > 0 else { return }
        var cumulativeCount = 0
        for (bound, count) in zip(Histogram.boundsNanoseconds, counts) {
            cumulativeCount += count
            writeSample("\(name)_bucket", labels + #",le="\#(Double(bound) / 1e9)""#, String(cumulativeCount))
        }
        writeSample("\(name)_bucket", labels + #",le="+Inf""#, String(totalCount))
        writeSample("\(name)_sum", labels, "\(histogram.totalSeconds)")
        writeSample("\(name)_count", labels, String(totalCount))
    }
}
