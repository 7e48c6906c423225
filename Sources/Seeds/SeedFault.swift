/// A reason for which nothing was seeded.
public enum SeedFault: Error, CustomStringConvertible {
    /// There are families, accounts, or traces of them.
    case notEmpty
    /// There are families or accounts that no seed made.
    case realData
    /// The demo's story met a rule that has changed.
    case notRefused

    public var description: String {
        switch self {
        case .notEmpty: "the database holds families or accounts already: nothing was changed"
        case .realData: "the database holds families or accounts of real people: nothing was changed"
        case .notRefused: "something the demo family must not do was allowed: nothing was changed"
        }
    }
}
