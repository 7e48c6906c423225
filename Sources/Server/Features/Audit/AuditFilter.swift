import Contract
import Domain
import Postgres

/// The filter of a page of the audit log, with people as their pseudonyms.
struct AuditFilter {
    /// A condition on entries.
    enum Condition: Hashable {
        case kinds([String])
        case actor(Pseudonym)
        case subject(Pseudonym)
        /// Entries by or about the person.
        case person(Pseudonym)
        case resource(ResourceID)
        case trace(TraceID)
        /// Entries with the id as their resource or trace, or by or about the person.
        case id(ResourceID, Pseudonym)
        /// Entries that match any meaning of a search text, where no single index finds all of them.
        case search(SearchMeanings)
        /// Every entry except the person's reads as an administrator.
        case excludingReadsBy(Pseudonym)
    }

    /// The meanings of a search text: an entry matches if any of them does.
    struct SearchMeanings: Hashable {
        /// The kinds whose names contain the text.
        var kinds: [String]
        /// The people whose names contain the text.
        var people: [Pseudonym]
        /// The last eight digits of an id, as the console shows it; nil if the text has another form.
        var idSuffix: String?
    }

    /// The conditions, usually the most selective first.
    var conditions: [Condition] = []
    /// The time of the earliest entries that match; nil without a limit.
    var from: Timestamp?
    /// The time before which entries match; nil without a limit.
    var to: Timestamp?

    /// Creates the filter of all conditions; nil when nothing can match: the actor or subject is unknown or erased, or
    /// the search text has no meaning.
    /// - Parameter namedPeople: the people whose names, as the caller may see them, contain the search text.
    init?(_ query: AuditConditions, namedPeople: [Pseudonym] = [], _ queries: any Queries) async throws {
        (from, to) = (query.from, query.to)
        let text = Self.searchText(of: query)
        let id = ResourceID(text)
        let users: [UserID] = [query.actorID, query.subjectID, query.personID, id?.retyped()].compactMap(\.self)
        var people: [UserID: Pseudonym] = [:]
        if !users.isEmpty {
            for row in try await queries.query(AuditStatements.pseudonyms(of: users)).map({
                row throws(PostgresError) in
                (user: try row["id"] as UserID, person: try row["pseudonym"] as Pseudonym)
            }) { people[row.user] = row.person }
        }
        if let trace = query.traceID { conditions.append(.trace(trace)) }
        if let resource = query.resourceID { conditions.append(.resource(resource)) }
        if let id { conditions.append(.id(id, people[id.retyped()] ?? id.retyped())) }
        // Entries name people by pseudonym. An erased person has none, so nothing matches.
        if let subject = query.subjectID {
            guard let person = people[subject] else { return nil }
            conditions.append(.subject(person))
        }
        if let actor = query.actorID {
            guard let person = people[actor] else { return nil }
            conditions.append(.actor(person))
        }
        if let person = query.personID { conditions.append(.person(people[person] ?? person.retyped())) }
        if let kind = query.kind { conditions.append(.kinds([kind])) }
        if id == nil, !text.isEmpty {
            guard let condition = try await Self.searchConditions(text, namedPeople, queries) else { return nil }
            conditions.append(contentsOf: condition)
        }
    }

    /// Returns the words of a search text with one blank between them; empty if there are none.
    static func searchText(of query: AuditConditions) -> String {
        query.q?.split(whereSeparator: \.isWhitespace).joined(separator: " ") ?? ""
    }

    /// Returns the conditions for a search text: none if every entry matches, nil if no entry can match.
    private static func searchConditions(
        _ text: String, _ namedPeople: [Pseudonym], _ queries: any Queries
    ) async throws -> [Condition]? {
        // Kinds are few and indexed, so those that contain the text are found first.
        let allKinds: [String] = try await queries.query(AuditStatements.kinds).map { row throws(PostgresError) in
            try row["kind"]
        }
        let kinds = allKinds.filter { $0.contains(text.lowercased()) }
        let suffix = idSuffix(text)
        if suffix == nil, namedPeople.isEmpty {
            if kinds.isEmpty { return nil }
            return kinds.count < allKinds.count ? [.kinds(kinds)] : []
        }
        if suffix == nil, kinds.isEmpty, namedPeople.count == 1 { return [.person(namedPeople[0])] }
        return [.search(SearchMeanings(kinds: kinds, people: namedPeople, idSuffix: suffix))]
    }

    /// Returns the eight digits of `1a2b3c4d`, or of `Person 1a2b3c4d` or `Family 1a2b3c4d`, as the console shows
    /// people and families without a name; nil for any other text.
    private static func idSuffix(_ text: String) -> String? {
        let words = text.lowercased().split(separator: " ")
        guard let last = words.last, last.utf8.count == 8, last.utf8.allSatisfy(\.isLowerHexDigit),
            words.count == 1 || words.count == 2 && ["person", "family"].contains(words[0])
        else { return nil }
        return String(last)
    }
}

extension UInt8 {
    fileprivate var isLowerHexDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
    }
}
