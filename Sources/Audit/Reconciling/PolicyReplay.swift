import Domain

/// A family's policy as its entries record it.
struct PolicyReplay: Sendable {
    enum Owners: Sendable {
        case exactly(Set<Pseudonym>)
        /// An only owner left, and which guardian took over is not recorded.
        case oneOf(Set<Pseudonym>)
        /// The entry's details are erased.
        case detailsErased

        var people: Set<Pseudonym> {
            switch self {
            case .exactly(let people), .oneOf(let people): people
            case .detailsErased: []
            }
        }
    }

    enum Proposal: Sendable {
        case none
        case made(PolicyProposalRow)
        /// The entry's details are erased.
        case detailsErased
    }

    private(set) var owners: Owners
    /// The policy's values; nil where the details are erased.
    private(set) var values: [String: String]? = PolicyRow.standard
    private(set) var proposal = Proposal.none
    /// The entry that changed it last.
    private(set) var number: Int64

    init(owner: Pseudonym, number: Int64) {
        owners = .exactly([owner])
        self.number = number
    }

    mutating func change(_ entry: AuditEntry, _ body: AuditBody?) {
        number = entry.number
        proposal = .none
        guard let body else {
            (owners, values) = (.detailsErased, nil)
            return
        }
        owners = .exactly(Self.people(body))
        var told = PolicyRow.limits(body)
        told[PolicyRow.versionName] = body[PolicyRow.versionName]
        told[PolicyRow.awaitsCoOwnerName] = body[PolicyRow.awaitsCoOwnerName]
        values = told
    }

    mutating func propose(_ entry: AuditEntry, _ body: AuditBody?) {
        number = entry.number
        // Owners propose.
        if case .oneOf = owners { owners = .exactly([entry.act.actor]) }
        guard let body, let id = body["proposal"] else {
            proposal = .detailsErased
            return
        }
        proposal = .made(
            PolicyProposalRow(
                id: id, owners: Set(Self.people(body)), values: PolicyRow.limits(body), approvers: [entry.act.actor]))
    }

    mutating func approve(_ entry: AuditEntry, _ body: AuditBody?) {
        guard case .made(var made) = proposal else { return }
        if let body {
            guard body["proposal"] == made.id else { return }
            made.approvers.insert(entry.act.actor)
            proposal = .made(made)
        } else {
            proposal = .detailsErased
        }
        number = entry.number
    }

    /// - Parameter heirs: the guardians who can take over from an only owner.
    mutating func depart(_ person: Pseudonym, heirs: [Pseudonym], _ entry: AuditEntry) {
        if case .made(let made) = proposal, made.owners.contains(person) || owners.people.contains(person) {
            proposal = .none
        }
        guard owners.people.contains(person) else { return }
        number = entry.number
        switch owners {
        case .exactly(let people) where people.count > 1:
            owners = .exactly(people.subtracting([person]))
            values?[PolicyRow.awaitsCoOwnerName] = "true"
        case .exactly: owners = heirs.isEmpty ? .exactly([person]) : .oneOf(Set(heirs))
        case .oneOf(let people):
            let next = people.subtracting([person]).union(heirs)
            owners = next.isEmpty ? .exactly([person]) : .oneOf(next)
        case .detailsErased: break
        }
    }

    private static func people(_ body: AuditBody) -> Set<Pseudonym> {
        Set((body["owners"] ?? "").split(separator: ",").compactMap { Pseudonym($0) })
    }
}
