import Domain

/// The value that a column must have, as far as the entries record it.
enum ExpectedValue: Sendable, Hashable, ExpressibleByStringLiteral {
    case text(String)
    /// A person; nil for nobody. Once the person is erased, the row names nobody instead.
    case person(Pseudonym?)
    case people(Set<Pseudonym>)
    /// One of these people alone; the entries do not record which.
    case oneOf(Set<Pseudonym>)
    /// Not known: the entry that records the value has lost its details. The person is the one whom the entry is about;
    /// nil where that may be several people.
    case lostDetails(Pseudonym?)
    /// Not known: the entry about this person is older than the detail, or has lost its details; nil where the entry is
    /// about no single person.
    case notRecorded(Pseudonym?)
    /// Not compared: entries do not record the value, or one that has lost its details may have changed it.
    case unknown

    init(stringLiteral text: String) { self = .text(text) }

    init(_ value: some CustomStringConvertible) { self = .text(value.description) }

    /// Creates the value of a detail of an entry about a person: `lostDetails` without a body, and `notRecorded` if the
    /// body lacks the detail.
    init(_ name: String, of person: Pseudonym?, in body: AuditBody?) {
        self = body.map { $0[name].map { .text($0) } ?? .notRecorded(person) } ?? .lostDetails(person)
    }

    /// Creates the value of a time in an entry's details: `notRecorded` if the text is missing or is no time.
    init(time text: String?, of person: Pseudonym?) {
        self = text.flatMap { Timestamp(rfc3339: $0) }.map { .text($0.rfc3339) } ?? .notRecorded(person)
    }

    /// The people of which the value consists; for `oneOf` all who may be the one.
    var people: Set<Pseudonym> {
        switch self {
        case .people(let people), .oneOf(let people): people
        case .person(let person): Set([person].compactMap(\.self))
        case .text, .lostDetails, .notRecorded, .unknown: []
        }
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The value as findings show it.
    var description: String {
        switch self {
        case .text(let text): text
        case .person(let person): person?.description ?? "nobody"
        case .people(let people), .oneOf(let people): people.sorted().map(\.description).joined(separator: ",")
        case .lostDetails, .notRecorded, .unknown: "unknown"
        }
    }
}

/// A row that the entries of a family record.
struct ExpectedRow: Sendable {
    struct Column: Sendable {
        let name: String
        var value: ExpectedValue
        /// The number of the entry that records the value.
        var entryNumber: Int64
    }

    private(set) var columns: [Column] = []
    /// Whether the row may be missing or be there twice: an entry without details does not say.
    var isOptional = false
    /// The time from which the row's retention period counts; nil for rows that retention keeps.
    var retainedFrom: Timestamp?

    /// The number of the last entry that changed the row.
    var lastEntryNumber: Int64? { columns.map(\.entryNumber).max() }

    subscript(name: String) -> ExpectedValue? { columns.first { $0.name == name }?.value }

    /// Sets columns that the entry with that number records.
    mutating func set(_ values: KeyValuePairs<String, ExpectedValue>, by entryNumber: Int64) {
        for (name, value) in values {
            if let index = columns.firstIndex(where: { $0.name == name }) {
                (columns[index].value, columns[index].entryNumber) = (value, entryNumber)
            } else {
                columns.append(Column(name: name, value: value, entryNumber: entryNumber))
            }
        }
    }
}

/// The rows that the entries of a family record, by subject and key.
struct ExpectedRows: Sendable {
    private var rows: [StateFinding.Subject: [StateKey: ExpectedRow]] = [:]

    subscript(subject: StateFinding.Subject) -> [StateKey: ExpectedRow] {
        get { rows[subject] ?? [:] }
        _modify { yield &rows[subject, default: [:]] }
    }
}
