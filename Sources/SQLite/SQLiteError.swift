import CSQLite

/// What can go wrong with a SQLite file. Descriptions are dull on purpose: no values leak.
public enum SQLiteError: Error, Hashable, Sendable {
    /// The file is no database, or a damaged one.
    case corrupt
    /// The disk, or what the file may take of it, is full.
    case full
    /// Another process holds the file longer than the busy timeout.
    case busy
    /// The file or its folder cannot be opened, read or written.
    case inaccessible(code: Int32)
    /// A constraint of the schema does not hold.
    case constraint(code: Int32)
    /// The schema is of a newer program than this one.
    case newerSchema(version: Int)
    /// A row has not the shape that the statement's reader expects.
    case unexpectedShape(String)
    /// Anything else: a fault of the program.
    case failed(code: Int32, String)

    /// By the extended result code of a call.
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
        case .corrupt: "the file is damaged or no database"
        case .full: "the disk is full"
        case .busy: "another program holds the file"
        case .inaccessible(let code): "the file cannot be opened, read or written (SQLite code \(code))"
        case .constraint(let code): "a constraint does not hold (SQLite code \(code))"
        case .newerSchema(let version): "the file is of a newer program (schema \(version))"
        case .unexpectedShape(let what): "a row has an unexpected shape: \(what)"
        case .failed(let code, let message): "SQLite failed with code \(code): \(message)"
        }
    }
}
