import Contract
import Domain
import Postgres

/// What a page of the audit log is narrowed to, with people resolved to the names the audit log has for them.
struct AuditFilter {
    /// A condition on entries.
    enum Condition: Hashable {
        case kinds([String])
        case actor(Pseudonym)
        case subject(Pseudonym)
        /// By or about them.
        case person(Pseudonym)
        case resource(ResourceID)
        case trace(TraceID)
        /// The id of a thing or a trace, or a person, by account or by pseudonym.
        case id(ResourceID, Pseudonym)
        /// Words of a search that no one index answers.
        case words(Words)
    }

    /// What the words of a search may mean: an entry of any of these is found.
    struct Words: Hashable {
        var kinds: [String]
        var people: [Pseudonym]
        /// The last eight digits of an id, which is what people see of it.
        var idEnd: String?
    }

    /// In the order in which they narrow, as a rule.
    var conditions: [Condition] = []
    var from: Timestamp?
    var to: Timestamp?

    /// Nil when nothing can be found: a person nobody knows (any more), or words that mean nothing.
    /// - Parameter named: the people whose names, as the caller may see them, hold the words of the search.
    init?(_ query: AuditQuery, named: [Pseudonym] = [], _ queries: any Queries) async throws {
        (from, to) = (query.from, query.to)
        let text = Self.words(of: query)
        let id = ResourceID(text)
        let wanted: [UserID] = [query.actorID, query.subjectID, query.personID, id?.retyped()].compactMap(\.self)
        var people: [UserID: Pseudonym] = [:]
        if !wanted.isEmpty {
            for row in try await queries.query(AuditStatements.people(wanted)).map({ row throws(PostgresError) in
                (user: try row["id"] as UserID, person: try row["pseudonym"] as Pseudonym)
            }) { people[row.user] = row.person }
        }
        if let trace = query.traceID { conditions.append(.trace(trace)) }
        if let resource = query.resourceID { conditions.append(.resource(resource)) }
        if let id { conditions.append(.id(id, people[id.retyped()] ?? id.retyped())) }
        // A person is found by pseudonym: after erasure there is none, and nothing is found.
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
            guard let condition = try await Self.search(text, named, queries) else { return nil }
            conditions.append(contentsOf: condition)
        }
    }

    /// The words of a search with one blank between them; empty for none.
    static func words(of query: AuditQuery) -> String {
        query.q?.split(whereSeparator: \.isWhitespace).joined(separator: " ") ?? ""
    }

    /// One condition, or none where every entry is meant; nil where none can be.
    private static func search(_ text: String, _ named: [Pseudonym], _ queries: any Queries) async throws
        -> [Condition]?
    {
        // Kinds are few and indexed: which of them hold the text is found out first.
        let all: [String] = try await queries.query(AuditStatements.kinds).map { row throws(PostgresError) in
            try row["kind"]
        }
        let kinds = all.filter { $0.contains(text.lowercased()) }
        let end = idEnd(text)
        if end == nil, named.isEmpty {
            if kinds.isEmpty { return nil }
            return kinds.count < all.count ? [.kinds(kinds)] : []
        }
        if end == nil, kinds.isEmpty, named.count == 1 { return [.person(named[0])] }
        return [.words(Words(kinds: kinds, people: named, idEnd: end))]
    }

    /// The eight digits of `1a2b3c4d`, or of `Person 1a2b3c4d` as the console shows people without a name.
    private static func idEnd(_ text: String) -> String? {
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
