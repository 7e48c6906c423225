/// The recipient of a nag over a connection, relative to its creator.
public enum ConnectionRecipient: String, Sendable, CaseIterable {
    /// The other party of the connection.
    case otherParty = "other_party"
    /// An active child of a family in which the other party, who shares its children, is a guardian.
    case childOfOtherParty = "child"
    case someoneElse = "someone_else"
}

/// The rule for nags over a connection between adults of different families.
public enum ConnectionRule {
    /// Returns the reason why the creator may not nag the recipient; nil when they may. Connected adults may nag
    /// each other; a caregiver may nag only the other party's children.
    /// - Parameters:
    ///   - isActive: whether the connection is active.
    ///   - isCaregiver: whether the connection is a caregiver's.
    ///   - isBlocked: whether there is a block between the creator and the other party or the recipient.
    ///   - isSuspended: whether a guardian has suspended the creator's relationship with the other party or the
    ///     recipient.
    ///   - sharesFamily: whether both parties are now in one family, whose own rules apply then.
    public static func denialOfNag(
        isActive: Bool, isCaregiver: Bool, to recipient: ConnectionRecipient, isBlocked: Bool,
        isSuspended: Bool = false, sharesFamily: Bool = false
    ) -> Denial? {
        guard isActive else { return .connectionNotActive }
        if isCaregiver {
            guard recipient == .childOfOtherParty else { return .caregiverChildrenOnly }
        } else {
            guard recipient == .otherParty else { return .connectionOtherPartyOnly }
        }
        if isSuspended { return .relationshipSuspended }
        if isBlocked { return .blocked }
        return sharesFamily ? .sameFamily : nil
    }
}
