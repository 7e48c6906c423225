import Domain

/// A cache of the zones of a database. It is not thread-safe.
public final class ZoneTable {
    private let database: ZoneDatabase
    private var zones: [String: (any ZoneRules)?] = [:]
    private var generation: Int

    public init(_ database: ZoneDatabase = .system) {
        self.database = database
        generation = database.currentGeneration
    }

    /// Returns the zone with that name; UTC for an unknown name.
    public func zoneOrUTC(_ name: String) -> any ZoneRules { knownZone(name) ?? UniversalTime() }

    /// Returns the zone with that name; nil for an unknown name.
    public func knownZone(_ name: String) -> (any ZoneRules)? {
        if generation != database.currentGeneration {
            generation = database.currentGeneration
            zones = [:]
        }
        if let zone = zones[name] { return zone }
        let zone = database.zone(name)
        if zones.count < 1_024 { zones[name] = .some(zone) }
        return zone
    }
}
