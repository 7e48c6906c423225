import Domain

/// The value that a column must have, as far as the entries record it.
enum ExpectedValue: Sendable, Hashable, ExpressibleByStringLiteral {
    case text(String)
    /// A person, for whom the row has nobody once they are erased; nil for nobody.
    case person(Pseudonym?)
    case people(Set<Pseudonym>)
    /// One of these people alone; the entries do not record which.
    case oneOf(Set<Pseudonym>)
    /// The entry about this person, or about anybody, that would say has lost its details.
    case lostDetails(Pseudonym?)
    /// The entry about this person does not say, because it is older than the detail or has lost its details.
    case notRecorded(Pseudonym?)
    /// Not compared: an entry that has lost its details may have changed it.
    case unknown

    init(stringLiteral text: String) { self = .text(text) }

    init(_ value: some CustomStringConvertible) { self = .text(value.description) }

    /// A detail of an entry about a person.
    init(_ name: String, of person: Pseudonym?, in body: AuditBody?) {
        self = body.map { $0[name].map { .text($0) } ?? .notRecorded(person) } ?? .lostDetails(person)
    }

    /// A time in an entry's details. One that cannot be read is not recorded.
    init(time text: String?, of person: Pseudonym?) {
        self = text.flatMap { Timestamp(rfc3339: $0) }.map { .text($0.rfc3339) } ?? .notRecorded(person)
    }

    /// The people of which the value consists.
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
        /// The entry that records the value.
        var number: Int64
    }

    private(set) var columns: [Column] = []
    /// Whether the row may be missing or be there twice: an entry without details does not say.
    var isOptional = false
    /// The time from which the row's retention period counts; nil for rows that retention keeps.
    var retainedFrom: Timestamp?

    /// The last entry that changed the row.
    var number: Int64? { columns.map(\.number).max() }

    subscript(name: String) -> ExpectedValue? { columns.first { $0.name == name }?.value }

    /// Sets columns, by the entry of that number.
    mutating func set(_ values: KeyValuePairs<String, ExpectedValue>, by number: Int64) {
        for (name, value) in values {
            if let index = columns.firstIndex(where: { $0.name == name }) {
                (columns[index].value, columns[index].number) = (value, number)
            } else {
                columns.append(Column(name: name, value: value, number: number))
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
