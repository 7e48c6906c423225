import Postgres
import Reactor
import SQL

/// A hot standby that reads the entities of the feed's long pages, in place of the primary. Used on one loop.
///
/// When it does not answer within two seconds, or is behind, the primary answers. Lost sessions are opened again in the
/// background.
package final class Standby {
    /// The default of the connection, which selects a standby where the connection string names several hosts.
    static let connectionDefaults = [(keyword: "target_session_attrs", value: "standby")]

    private let options: ConnectionOptions
    private let limits: Database.Limits
    private let slowStatements: SlowStatements?
    private let poller: Poller
    /// The counts of the reads by result, shared with other loops.
    private let use: StandbyUse
    private var database: Database

    /// - Parameters:
    ///   - use: the counts of the reads by result, shared with other loops.
    ///   - connections: the number of sessions of this loop.
    /// - Throws: `PostgresError.unavailable` if the connection string is malformed.
    init(
        url: String, connections: Int, _ use: StandbyUse, slowStatements: SlowStatements? = nil, poller: Poller
    ) throws(PostgresError) {
        options = try ConnectionOptions(
            url: url, settings: Configuration.databaseSessionSettings + [(name: "statement_timeout", value: "2000")],
            defaults: Self.connectionDefaults)
        var limits = Database.Limits()
        limits.connections = connections
        limits.requestTimeout = .milliseconds(250)
        limits.batchTimeout = .seconds(2)
        limits.connectTimeout = .seconds(2)
        (self.limits, self.slowStatements, self.poller, self.use) = (limits, slowStatements, poller, use)
        database = Database(options, limits: limits, slowStatements: slowStatements, poller: poller)
    }

    /// Opens the sessions in the background.
    func open() { database.open() }

    func close() { database.close() }

    /// Returns whether a session is open; otherwise records that the standby was unavailable for the read.
    func admitRead() -> Bool {
        if database.openConnections > 0 { return true }
        use.record(.unavailable(database.lastOpenFailure ?? "no session is open yet"), at: .now())
        return false
    }

    /// Returns the rows of a statement; nil when it has no rows, which means that the standby is behind, and when it
    /// fails.
    func readRows(of statement: SQL) async -> Rows? {
        let (result, rows) = await read(statement)
        use.record(result, at: .now())
        return rows
    }

    private func read(_ statement: SQL) async -> (result: StandbyUse.Result, rows: Rows?) {
        let database = database
        do throws(PostgresError) {
            let results = try await database.pipeline(["SELECT pg_is_in_recovery() AS is_standby", statement])
            guard results.count == 2, try results[0].onlyRow()["is_standby"] else {
                reopen(insteadOf: database)
                return (.unavailable("it is no standby any more"), nil)
            }
            return results[1].isEmpty ? (.behind, nil) : (.answered, results[1])
        } catch {
            return (.unavailable(error.description), nil)
        }
    }

    /// Replaces the sessions by new ones, which look for a standby again: a promoted server keeps the sessions that it
    /// had as a standby.
    private func reopen(insteadOf old: Database) {
        guard old === database else { return }
        old.close()
        database = Database(options, limits: limits, slowStatements: slowStatements, poller: poller)
        database.open()
    }
}

extension Configuration {
    /// Creates the standby for one loop; nil where none is configured.
    func makeStandby(
        _ use: StandbyUse?, slowStatements: SlowStatements?, _ poller: Poller
    ) throws(PostgresError) -> Standby? {
        guard let standbyURL, let use else { return nil }
        return try Standby(
            url: standbyURL, connections: databaseConnectionsPerLoop, use, slowStatements: slowStatements,
            poller: poller)
    }
}
