import Domain
import Postgres

extension Row {
    /// Returns the time in a column that is never null.
    @inline(__always)
    func timestamp(_ column: Int) -> Timestamp { optionalTimestamp(column) ?? .epoch }

    /// Returns the column's time; nil when it is null.
    @inline(__always)
    func optionalTimestamp(_ column: Int) -> Timestamp? {
        timestampMicroseconds(column).map { Timestamp(microseconds: $0) }
    }
}
