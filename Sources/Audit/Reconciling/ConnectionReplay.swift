import Domain

/// A connection as the entries of its chain record it.
struct ConnectionReplay: Sendable {
    let inviter: Pseudonym
    /// The invitee; nil before somebody answered.
    private(set) var invitee: Pseudonym?
    private(set) var status = "pending"
    /// Whether the other party may nag the children of the inviter, and those of the invitee; nil where the details are
    /// erased.
    private(set) var inviterSharesChildren: Bool?
    private(set) var inviteeSharesChildren: Bool?
    /// The entry that changed it last.
    private(set) var number: Int64

    static let inviterSharesName = "inviter_shares_children"
    static let inviteeSharesName = "invitee_shares_children"

    init(_ entry: AuditEntry, _ body: AuditBody?) {
        inviter = entry.act.actor
        inviterSharesChildren = body.map { $0["caregiver"] == "true" }
        inviteeSharesChildren = false
        number = entry.number
    }

    mutating func accept(_ entry: AuditEntry) {
        (status, invitee, number) = ("active", entry.act.actor, entry.number)
        // Who accepts an invitation as a caregiver's agrees for their own children too.
        inviteeSharesChildren = inviterSharesChildren
    }

    mutating func change(_ entry: AuditEntry, _ body: AuditBody?) {
        inviterSharesChildren = body.map { $0[Self.inviterSharesName] == "true" }
        inviteeSharesChildren = body.map { $0[Self.inviteeSharesName] == "true" }
        number = entry.number
    }

    mutating func end(_ status: String, _ entry: AuditEntry) {
        (self.status, number) = (status, entry.number)
        (inviterSharesChildren, inviteeSharesChildren) = (false, false)
        if status == "declined" { invitee = entry.act.actor }
    }
}

/// A connection's row.
public struct ConnectionRow: Sendable {
    public var id: ConnectionID
    public var inviter: Pseudonym?
    /// The invitee; nil also for an address without an account.
    public var invitee: Pseudonym?
    public var status: String
    public var inviterSharesChildren: Bool
    public var inviteeSharesChildren: Bool

    public init(
        id: ConnectionID, inviter: Pseudonym?, invitee: Pseudonym?, status: String, inviterSharesChildren: Bool,
        inviteeSharesChildren: Bool
    ) {
        self.id = id
        self.inviter = inviter
        self.invitee = invitee
        self.status = status
        self.inviterSharesChildren = inviterSharesChildren
        self.inviteeSharesChildren = inviteeSharesChildren
    }
}

extension FamilyReconciliation {
    mutating func check(_ row: ConnectionRow) {
        connections += 1
        let id = row.id.description
        guard let expected = replay.connection else { return addUnknown(.connection, id) }
        let number = expected.number
        compare(person: row.inviter, expected.inviter, .connection, id, "inviter", number)
        // An invitation does not say whose account the address is.
        if let invitee = expected.invitee {
            compare(person: row.invitee, invitee, .connection, id, "invitee", number)
        }
        compare(.connection, id, "status", row.status, expected.status, number)
        for (name, found, expected) in [
            (ConnectionReplay.inviterSharesName, row.inviterSharesChildren, expected.inviterSharesChildren),
            (ConnectionReplay.inviteeSharesName, row.inviteeSharesChildren, expected.inviteeSharesChildren),
        ] {
            if let expected {
                compare(.connection, id, name, "\(found)", "\(expected)", number)
            } else {
                addLostDetails(.connection, id, of: nil)
            }
        }
    }
}
