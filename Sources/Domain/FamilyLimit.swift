/// The limits on the size of a family. Each member has a relationship with each other member, and reads of a family
/// load all of them.
public enum FamilyLimit {
    /// The largest number of active members.
    public static let members = 50
    /// Accounts that guardians may create in a family within 24 hours, including those removed again.
    public static let accountsPerDay = 50

    /// Returns the reason for which one more member is refused; nil when one is allowed.
    public static func denialOfMember(active: Int) -> Denial? { active >= members ? .familyFull : nil }

    /// Returns the reason for which one more account is refused; nil when one is allowed.
    public static func denialOfAccount(madeToday: Int) -> Denial? {
        madeToday >= accountsPerDay ? .accountLimitReached : nil
    }
}
