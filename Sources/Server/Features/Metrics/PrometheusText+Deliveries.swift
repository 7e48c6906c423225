import Domain

extension PrometheusText {
    /// Writes the results of deliveries on this instance, by channel and result.
    mutating func writeDeliveries(_ channels: [DeliveryFigures], _ now: Timestamp) {
        writeHeader("nagz_deliveries_total", "counter", "Attempts at notifications, by what they ended in.")
        for one in channels {
            let counts = [
                ("sent", one.sent), ("repeated", one.repeated), ("seen_live", one.skippedForLiveSocket),
                ("retried", one.retried),
                ("dead", one.dead), ("dropped", one.dropped), ("deferred", one.deferred), ("fault", one.faults),
            ]
            for (result, count) in counts {
                let labels = #"channel="\#(one.channel.rawValue)",result="\#(result)""#
                writeSample("nagz_deliveries_total", labels, String(count.value))
            }
        }
        writeHeader(
            "nagz_delivery_queue_age_seconds", "gauge", "How long a notification has waited; 0 without a queue.")
        for one in channels {
            let age = Double(one.queueAge(at: now).microseconds) / 1e6
            writeSample("nagz_delivery_queue_age_seconds", #"channel="\#(one.channel.rawValue)""#, "\(age)")
        }
    }
}
