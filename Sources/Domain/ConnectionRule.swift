/// The recipient of a nag over a connection, relative to its creator.
public enum ConnectionRecipient: Sendable, CaseIterable {
    /// The other party of the connection.
    case otherParty
    /// An active child of a family in which the other party is a guardian.
    case childOfOtherParty
    case someoneElse
}

/// Who may send nags to whom over a connection between adults of different families.
public enum ConnectionRule {
    /// Connected adults may nag each other; a caregiver may nag only the other party's children. Nil means allowed.
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
