import Audit
import Contract
import Domain
import DomainSQL
import Postgres
import SQL

// The rows that a check compares with the entries, as ReconcileStatements reads them.

extension PreparedEntry {
    /// Reads the columns `ReconcileStatements.entryColumns`.
    init(_ row: Row, _ sealing: Sealing) throws {
        let payload: ExportRecord.Payload =
            switch try sealing.openBody(of: row) {
            case .whole(let salt, let body): .whole(salt: salt, body: body)
            case .erased: .erased
            case .unreadable: .unreadable
            }
        let act = Audit.AuditEntry.Act(
            kind: try row["kind"], actor: try row["actor"], subject: try row["subject"],
            resource: try row["resource"], trace: try row["trace"], request: try row["request"],
            commitment: try row["commit"])
        let entry = Audit.AuditEntry(
            family: try row["family_id"], number: try row["n"], at: try row["at"], act: act,
            previous: try row["prev"], hash: try row["hash"])
        self.init(entry, payload, position: nil)
    }
}

extension Row {
    /// Reads columns of texts and columns of pseudonyms, and returns their values by the names of the columns.
    fileprivate func stateValues(
        _ texts: [StaticString], people: [StaticString] = []
    ) throws(PostgresError) -> [String: StateValue] {
        var values: [String: StateValue] = [:]
        for name in texts { values[name.description] = .text(try self[name]) }
        for name in people { values[name.description] = .person(try self[name]) }
        return values
    }
}

extension StateRow {
    init(member row: Row) throws(PostgresError) {
        let (user, person): (UserID, Pseudonym?) = (try row["user_id"], try row["pseudonym"])
        var values = try row.stateValues(["role", "status"])
        values[StateFinding.pseudonymField] = StateValue(user)
        self.init(
            .membership, id: user.description, keys: person.map { [.person($0)] } ?? [], values, user: user,
            person: person)
    }

    init(relationship row: Row) throws(PostgresError) {
        let (one, other): (Pseudonym?, Pseudonym?) = (try row["a"], try row["b"])
        let id: RelationshipID = try row["id"]
        var keys: [StateKey] = []
        if let one, let other { keys = [.pair(of: one, and: other)] }
        self.init(.relationship, id: id.description, keys: keys, try row.stateValues(["status"]))
    }

    init(consent row: Row) throws(PostgresError) {
        let id: ResourceID = try row["id"]
        var values = try row.stateValues(["type", "revoked", "granted_seq"], people: ["user"])
        // The consent is older than the column.
        if values["granted_seq"] == "0" { values["granted_seq"] = .unknown }
        self.init(.consent, id: id.description, keys: [.id(id)], values)
    }

    init(nag row: Row) throws(PostgresError) {
        let (id, lastChangeNumber): (ResourceID, Int64) = (try row["id"], try row["sync_seq"])
        let dueAt: Timestamp = try row["due_at"]
        var values = try row.stateValues(
            ["category", "status", "dismissed", "phase"], people: ["creator", "recipient"])
        (values["due_at"], values["sync_seq"]) = (.text(dueAt.rfc3339), StateValue(lastChangeNumber))
        self.init(
            .nag, id: id.description, keys: [.id(id)], values, person: try row["recipient"],
            sourceNag: try row["parent_nag_id"], lastChangeNumber: lastChangeNumber)
    }

    /// Reads a gamification event. Its entry is found by the event's ID if an incentive rule gave the points, and
    /// otherwise by the sequence number.
    init(points row: Row) throws(PostgresError) {
        let (id, creationNumber): (ResourceID, Int64) = (try row["id"], try row["sync_seq"])
        var values = try row.stateValues(["nag", "delta_points", "streak_delta", "is_completion"], people: ["user"])
        values["sync_seq"] = StateValue(creationNumber)
        self.init(
            .points, id: id.description, keys: [.id(id), .number(creationNumber)], values, user: try row["user_id"],
            person: try row["user"], creationNumber: creationNumber, lastChangeNumber: creationNumber)
    }

    init(badge row: Row) throws(PostgresError) {
        let (user, person): (UserID, Pseudonym?) = (try row["user_id"], try row["pseudonym"])
        let type: String = try row["type"]
        self.init(
            .badge, id: "\(user) \(type)", keys: person.map { [.badge($0, type: type)] } ?? [],
            try row.stateValues(["type"]), person: person)
    }

    init(connection row: Row) throws(PostgresError) {
        let id: ResourceID = try row["id"]
        self.init(
            .connection, id: id.description, keys: [.id(id)],
            try row.stateValues(
                ["status", "inviter_shares_children", "invitee_shares_children"], people: ["inviter", "invitee"]))
    }

    init(incentiveRule row: Row) throws(PostgresError) {
        let (id, version): (ResourceID, Int) = (try row["id"], try row["version"])
        self.init(
            .incentiveRule, id: "\(id) \(version)", keys: [.version(of: id, version)],
            try row.stateValues(["status", "terms"]))
    }

    init(incentive row: Row) throws(PostgresError) {
        let id: ResourceID = try row["id"]
        self.init(
            .incentive, id: id.description, keys: [.id(id)],
            try row.stateValues(["nag", "rule", "version", "applied"], people: ["user"]), person: try row["user"],
            sourceNag: try row["nag_id"])
    }

    /// Reads a constraint. If a value of the row is invalid, the row differs in all its terms from the entry.
    init(constraint row: Row) throws {
        let id: ResourceID = try row["id"]
        let note = (try? ConstraintResponse(row))?.auditNote
        self.init(
            .constraint, id: id.description, keys: [.id(id)],
            [
                "scope": note.map { .text($0.scope.rawValue) } ?? "other",
                "priority": note.map { StateValue($0.priority) } ?? "other",
                "terms": note.map { .text($0.terms) } ?? "other", "owner": .person(try row["pseudonym"]),
            ])
    }

    init(policy row: Row) throws {
        let id: PolicyID = try row["id"]
        let limits = try FamilyPolicy(row)
        let terms = PolicyTerms(
            owners: [], limits: limits, clientValues: try CurrentPolicy.jsonObject(try row["constraints"]))
        let proposal = try PolicyProposalNote(row)
        var values = try row.stateValues(["in_force", "version", "awaits_co_owner"])
        for (name, value) in terms.auditValues { values[name] = .text(value) }
        values["id"] = StateValue(id)
        values["owners"] = .people(try row.list("owners") ?? [])
        values["proposal"] = .text(proposal?.id)
        values["proposed_terms"] = .text(proposal?.text)
        self.init(.policy, id: id.description, keys: [.policy], values)
    }
}

extension PolicyProposalNote {
    /// Reads the proposal of a row; nil where nothing is proposed.
    fileprivate init?(_ row: Row) throws {
        guard let id: PolicyProposalID = try row["proposal_id"] else { return nil }
        let constraints = try CurrentPolicy.jsonObject(try row["proposed_constraints"])
        // Invalid constraints have no values, so that the terms differ from those in the entry.
        let values = (try? PolicyTerms(owners: [], constraints: constraints))?.auditValues ?? [:]
        self.init(
            id: id.description, owners: Set(try row.list("proposed_owners") ?? []), values: values,
            approvers: Set(try row.list("approvers") ?? []))
    }
}

extension TotalsRow {
    init(_ row: Row) throws(PostgresError) {
        self.init(
            user: try row["user_id"],
            sums: ScoreSums(
                points: try row["points"], streak: try row["streak"], events: try row["events"],
                completions: try row["completions"]),
            droppedSums: ScoreSums(
                points: try row["dropped_points"], streak: try row["dropped_streak"],
                events: try row["dropped_events"], completions: try row["dropped_completions"]))
    }
}
