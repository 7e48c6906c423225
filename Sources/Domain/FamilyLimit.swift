/// The limits on the size of a family. Each member has a relationship with each other member, and reads of a family
/// load all of them.
public enum FamilyLimit {
    /// The maximum number of active members.
    public static let maxMembers = 50
    /// The maximum number of accounts that guardians may create in a family within 24 hours, including removed ones.
    public static let accountsPerDay = 50

    /// Returns the reason why one more member is refused; nil when one is allowed.
    public static func denialOfMember(active: Int) -> Denial? { active >= maxMembers ? .familyFull : nil }

    /// Returns the reason why one more account is refused; nil when one is allowed.
    /// - Parameter madeWithinDay: the number of accounts created in the family within the last 24 hours.
    public static func denialOfAccount(madeWithinDay: Int) -> Denial? {
        madeWithinDay >= accountsPerDay ? .dailyAccountLimitReached : nil
    }
}
