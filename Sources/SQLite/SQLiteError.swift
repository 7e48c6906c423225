import CSQLite

/// An error of a SQLite file. Descriptions reveal no values.
public enum SQLiteError: Error, Hashable, Sendable {
    /// The file is not a database, or is damaged.
    case corrupt
    /// The disk is full, or the file has reached its maximum number of pages.
    case full
    /// Another process held the lock longer than the busy timeout.
    case busy
    /// The file or its folder cannot be opened, read or written.
    case inaccessible(code: Int32)
    /// A constraint of the schema was violated.
    case constraint(code: Int32)
    /// The schema belongs to a newer program.
    case newerSchema(version: Int)
    /// A row does not have the shape that its reader expects.
    case unexpectedShape(String)
    /// Any other error, usually a fault of the program.
    case failed(code: Int32, String)

    /// Creates the error for a call's extended result code.
    init(code: Int32, _ message: @autoclosure () -> String) {
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .corrupt
        case SQLITE_FULL: self = .full
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_IOERR, SQLITE_AUTH:
            self = .inaccessible(code: code)
        case SQLITE_CONSTRAINT: self = .constraint(code: code)
        default: self = .failed(code: code, message())
        }
    }
}

extension SQLiteError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .corrupt: "the file is damaged, or is not a database"
        case .full: "the disk is full, or the file has reached its size limit"
        case .busy: "another program uses the file"
        case .inaccessible(let code): "the file cannot be opened, read or written (SQLite code \(code))"
        case .constraint(let code): "a constraint does not hold (SQLite code \(code))"
        case .newerSchema(let version): "the file belongs to a newer program (schema \(version))"
        case .unexpectedShape(let what): "a row has an unexpected shape: \(what)"
        case .failed(let code, let message): "SQLite failed with code \(code): \(message)"
        }
    }
}
