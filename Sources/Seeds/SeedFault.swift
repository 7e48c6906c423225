/// A reason why nothing was seeded.
public enum SeedFault: Error, CustomStringConvertible {
    /// The database has families, accounts, or entries about them.
    case notEmpty
    /// The database has families other than the demo's, or accounts that never had a family, administrators excepted.
    case realData
    /// An act that the demo expects to be refused was not refused: a rule has changed.
    case notRefused

    public var description: String {
        switch self {
        case .notEmpty: "the database already has families or accounts: nothing was changed"
        case .realData: "the database has families or accounts of real people: nothing was changed"
        case .notRefused: "an act that the demo family must not do was allowed: nothing was changed"
        }
    }
}
