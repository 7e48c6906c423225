/// The limits on the connections and invitations of one person.
public enum ConnectionLimit {
    /// Invitations that wait for an answer.
    public static let openInvitations = 50
    /// Active connections.
    public static let active = 100
    /// New invitations within `day`.
    public static let invitationsPerDay = 20
    public static let day = Timestamp.Span.days(1)
    /// New invitations to one address within `month`, so that a refusal ends it.
    public static let invitationsToOneAddress = 3
    public static let month = Timestamp.Span.days(30)
    /// The time after which an invitation that was not answered is revoked.
    public static let invitationLifetime = Timestamp.Span.days(30)
}

/// Operations on a connection that only one of its parties may do, or only at some time.
public enum ConnectionAct: String, Sendable, CaseIterable {
    case accept, decline
    case shareChildren = "share_children"
}

/// One person's part in a connection.
public struct ConnectionParty: Hashable, Sendable {
    public var isInviter: Bool
    /// Whether they are a guardian of a family.
    public var isGuardian: Bool
    /// Whether one of the two blocks the other.
    public var isBlocked: Bool
    /// Whether a guardian has suspended the relationship of the two in a family.
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
    /// Returns the reason for which a party is refused an operation on a connection; nil when it is allowed. Declining
    /// and revoking only end contact: nothing but the part in the connection matters.
    public static func denial(of act: ConnectionAct, by party: ConnectionParty) -> Denial? {
        switch act {
        case .decline: party.isInviter ? .inviteeOnly : nil
        case .accept: party.isInviter ? .inviteeOnly : denialOfConnection(party)
        case .shareChildren: party.isGuardian ? denialOfConnection(party) : .ownChildrenOnly
        }
    }

    /// Returns the reason for which two people may not connect; nil when they may. It does not reveal who blocked whom.
    public static func denialOfConnection(_ party: ConnectionParty) -> Denial? {
        if party.isBlocked { return .connectionBlocked }
        if party.isSuspended { return .relationshipSuspended }
        return party.sharesFamily ? .sameFamily : nil
    }
}
