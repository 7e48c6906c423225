import Contract
import Domain
import Postgres

/// What a page of the trail is narrowed to, with people resolved to the names the trail has for them.
struct AuditFilter {
    /// A condition on entries that an index leads to.
    enum Condition: Hashable {
        case kinds([String])
        case actor(Pseudonym)
        case subject(Pseudonym)
        case resource(ResourceID)
        case trace(TraceID)
        /// The id of a thing or a trace, or a person, by account or by pseudonym.
        case id(ResourceID, Pseudonym)
    }

    /// In the order in which they narrow, as a rule.
    var conditions: [Condition] = []
    var from: Timestamp?
    var to: Timestamp?

    /// Nil when nothing can be found: a person nobody knows (any more), or words in no kind.
    init?(_ query: AuditQuery, _ queries: any Queries) async throws {
        (from, to) = (query.from, query.to)
        let text = query.q?.split(whereSeparator: \.isWhitespace).joined(separator: " ") ?? ""
        let id = ResourceID(text)
        let wanted: [UserID] = [query.actorID, query.subjectID, id?.retyped()].compactMap(\.self)
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
        if let kind = query.kind { conditions.append(.kinds([kind])) }
        if id == nil, !text.isEmpty {
            // Kinds are few and indexed: which of them hold the text is found out first.
            let all: [String] = try await queries.query(AuditStatements.kinds).map { row throws(PostgresError) in
                try row["kind"]
            }
            let kinds = all.filter { $0.contains(text.lowercased()) }
            guard !kinds.isEmpty else { return nil }
            if kinds.count < all.count { conditions.append(.kinds(kinds)) }
        }
    }
}

/// A place in a list of the trail, opaque to clients: the next page lies below this time, and at this time below this family
/// and number.
struct AuditCursor: Hashable {
    let family: FamilyID
    /// 0 where everything of that time was seen.
    let before: Int64
    var at = Timestamp.epoch

    /// Below everything of a moment and later.
    static func below(_ moment: Timestamp, of family: FamilyID?) -> AuditCursor {
        AuditCursor(family: family ?? .outside, before: 0, at: moment)
    }

    /// Nil when there is no cursor.
    /// - Throws: 422 for text that is no cursor of this list.
    static func place(_ text: String?, in family: FamilyID?) throws(APIError) -> AuditCursor? {
        guard let text else { return nil }
        guard let bytes = bytes(base64URL: text[...]), bytes.count == 32 else { throw refusal }
        func word(_ index: Int) -> UInt64 { bytes[(index * 8)..<(index * 8 + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        let place = AuditCursor(
            family: FamilyID(high: word(0), low: word(1)), before: Int64(bitPattern: word(2)),
            at: Timestamp(microseconds: Int64(bitPattern: word(3))))
        guard family == nil || place.family == family,
            (Timestamp.epoch...Timestamp.lastSecond).contains(place.at)
        else { throw refusal }
        return place
    }

    private static let refusal = APIError(
        .validationFailed, "cursor is not one of this family's trail.", field: "cursor")

    var text: String {
        let words = [before, at.microseconds]
        return base64URL(
            family.bytes
                + words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> Int64(56 - 8 * $0)) } })
    }
}
