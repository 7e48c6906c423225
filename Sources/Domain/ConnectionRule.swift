/// Who a nag over a connection is for, seen from its creator.
public enum ConnectionRecipient: Sendable, CaseIterable {
    /// The other party of the connection.
    case otherParty
    /// An active child of a family in which the other party is a guardian.
    case childOfOtherParty
    case someoneElse
}

/// Who may nag whom over a connection between adults of different families.
public enum ConnectionRule {
    /// Friends nag each other; a caregiver nags the other party's children and nobody else. Nil means allowed.
    public static func denialOfNag(
        isActive: Bool, isCaregiver: Bool, to recipient: ConnectionRecipient, isBlocked: Bool
    ) -> Denial? {
        guard isActive else { return .connectionNotActive }
        if isCaregiver {
            guard recipient == .childOfOtherParty else { return .caregiverChildrenOnly }
        } else {
            guard recipient == .otherParty else { return .connectionOtherPartyOnly }
        }
        return isBlocked ? .blocked : nil
    }
}
