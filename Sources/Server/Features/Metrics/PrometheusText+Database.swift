import Domain

extension PrometheusText {
    /// Writes the offset of the database's clock and the state of its standbys; nothing while the database does not
    /// answer. The lag is 0 without standbys, and missing if the server may not see it.
    mutating func writeDatabase(_ figures: DatabaseFigures?) {
        guard let figures else { return }
        writeHeader("nagz_clock_offset_seconds", "gauge", "How far the server's clock is ahead of the database's.")
        writeSample("nagz_clock_offset_seconds", "", "\(Double(figures.serverClockLead.microseconds) / 1e6)")
        let replication = figures.replication
        writeMetric(
            "nagz_replication_standbys", "gauge", "Standbys that stream from the database.", replication.standbys)
        guard replication.hasDetails || replication.standbys == 0 else { return }
        writeMetric(
            "nagz_replication_synchronous_standbys", "gauge", "Those of them that commits wait for.",
            replication.synchronousStandbys)
        writeMetric(
            "nagz_replication_lag_bytes", "gauge", "What the slowest standby has not replayed.", figures.lag.bytes)
        writeHeader("nagz_replication_lag_seconds", "gauge", "How long the slowest standby has been behind.")
        writeSample("nagz_replication_lag_seconds", "", "\(figures.lag.time / .seconds(1))")
    }
}
