/// The bounds on how large a family grows: each member has a relationship with each, and what reads a family reads all of
/// them.
public enum FamilyLimit {
    /// Active members.
    public static let members = 50
    /// Accounts that guardians make inside a family within 24 hours, also where they removed them again.
    public static let accountsPerDay = 50

    /// Why one more member is refused to a family that has so many.
    public static func denialOfMember(active: Int) -> Denial? { active >= members ? .familyFull : nil }

    /// Why one more account is refused to a family in which so many were made within 24 hours.
    public static func denialOfAccount(madeToday: Int) -> Denial? {
        madeToday >= accountsPerDay ? .accountLimitReached : nil
    }
}
