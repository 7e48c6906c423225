import Contract
import Domain
import SQL

/// Every statement on preferences.
enum PreferenceStatements {
    /// A member's stored preferences, or null: an SQL expression for the statements of other features, to be read as
    /// `StoredPreferences`.
    ///
    /// - Parameters:
    ///   - person: an expression of type `uuid`: a column with its table's name before it, or `"\(userID)"`.
    ///   - family: the same for the family.
    static func stored(of person: SQL, in family: SQL) -> SQL {
        """
        (SELECT preferences.prefs FROM preferences
         WHERE preferences.family_id = \(family) AND preferences.user_id = \(person))
        """
    }
}
