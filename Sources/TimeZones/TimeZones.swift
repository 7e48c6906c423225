import Domain
import Foundation

/// A zone of the IANA time zone database, provided by Foundation.
public struct SystemZone: ZoneRules {
    private let zone: TimeZone

    /// Nil for an unknown name.
    public init?(named name: String) {
        guard name.contains("/") || name == "UTC", let zone = TimeZone(identifier: name) else { return nil }
        self.zone = zone
    }

    public func secondsFromUTC(at moment: Timestamp) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment.microseconds) / 1_000_000))
    }
}

/// A cache of zones. Not thread-safe.
public final class ZoneTable {
    private var zones: [String: any ZoneRules] = [:]

    public init() {}

    /// The zone with that name; UTC for an unknown name.
    public func zone(_ name: String) -> any ZoneRules {
        if let known = zones[name] { return known }
        let zone: any ZoneRules = SystemZone(named: name) ?? UniversalTime()
        if zones.count < 1_024 { zones[name] = zone }
        return zone
    }
}
