/// The limits on the connections and invitations of one person.
public enum ConnectionLimit {
    /// The maximum number of invitations that wait for an answer.
    public static let maxOpenInvitations = 50
    /// The maximum number of active connections.
    public static let maxActiveConnections = 100
    /// The maximum number of new invitations within `day`.
    public static let invitationsPerDay = 20
    public static let day = Timestamp.Span.days(1)
    /// The maximum number of new invitations to one address within `month`.
    public static let invitationsPerAddressAndMonth = 3
    public static let month = Timestamp.Span.days(30)
    /// The time after which an unanswered invitation is revoked.
    public static let invitationLifetime = Timestamp.Span.days(30)
}

/// Operations on a connection whose permission depends on the party (`ConnectionParty`).
public enum ConnectionAct: String, Sendable, CaseIterable {
    case accept, decline
    /// Letting the other party, as a caregiver, nag the children of one's own family.
    case shareChildren = "share_children"
}

/// One party of a connection, and their relation to the other one.
public struct ConnectionParty: Hashable, Sendable {
    public var isInviter: Bool
    /// Whether the party is a guardian of a family.
    public var isGuardian: Bool
    /// Whether either party blocks the other.
    public var isBlocked: Bool
    /// Whether a guardian has suspended their relationship in a family.
    public var isSuspended: Bool
    /// Whether both are members of one family.
    public var sharesFamily: Bool

    public init(
        isInviter: Bool, isGuardian: Bool = false, isBlocked: Bool = false, isSuspended: Bool = false,
        sharesFamily: Bool = false
    ) {
        self.isInviter = isInviter
        self.isGuardian = isGuardian
        self.isBlocked = isBlocked
        self.isSuspended = isSuspended
        self.sharesFamily = sharesFamily
    }
}

extension RoleMatrix {
    /// Returns the reason why a party is refused an operation on a connection; nil when it is allowed.
    /// Declining only ends contact, so blocks and suspensions do not matter for it.
    public static func denial(of act: ConnectionAct, by party: ConnectionParty) -> Denial? {
        switch act {
        case .decline: party.isInviter ? .inviteeOnly : nil
        case .accept: party.isInviter ? .inviteeOnly : denialOfConnection(party)
        case .shareChildren: party.isGuardian ? denialOfConnection(party) : .ownChildrenOnly
        }
    }

    /// Returns the reason why two people may not connect; nil when they may. It does not reveal who blocked whom.
    public static func denialOfConnection(_ party: ConnectionParty) -> Denial? {
        if party.isBlocked { return .connectionBlocked }
        if party.isSuspended { return .relationshipSuspended }
        return party.sharesFamily ? .sameFamily : nil
    }
}
