import Domain
import DomainSQL
import NagzAI
import SQL
import SQLite

// The latest attempts to reach the server. They are stored, because a process lives for one command only.
extension EventCache {
    /// Returns the faults since the server last answered, as a value that derives the state of the network.
    public func networkWatch() throws(SQLiteError) -> NetworkWatch {
        NetworkWatch(
            faults: try database.rows("SELECT at, is_of_connection FROM contact_faults ORDER BY at, rowid") {
                row throws(SQLiteError) in
                NetworkWatch.Fault(at: try row["at"], isConnectionFault: try row["is_of_connection"])
            })
    }

    /// Records that the server answered: deletes the faults.
    public func recordServerAnswer() throws(SQLiteError) {
        guard try !networkWatch().faults.isEmpty else { return }
        try database.run("DELETE FROM contact_faults")
    }

    /// Records a failed attempt to reach the server.
    public func record(_ fault: NetworkWatch.Fault) throws {
        try database.transaction {
            var watch = try networkWatch()
            watch.record(fault)
            try database.run("DELETE FROM contact_faults")
            for one in watch.faults {
                try database.run(
                    "INSERT INTO contact_faults (at, is_of_connection) VALUES (\(one.at), \(one.isConnectionFault))")
            }
        }
    }
}
