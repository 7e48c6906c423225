import Domain
import SQL

/// Every statement on preferences.
enum PreferenceStatements {
    /// A member's stored preferences, or null: an SQL expression for the statements of other features, to be read as
    /// `StoredPreferences`.
    ///
    /// `user` and `family` are expressions of the statement around it, with their table's name before them, or values.
    static func stored(of user: SQL, in family: SQL) -> SQL {
        """
        (SELECT preferences.prefs FROM preferences
         WHERE preferences.family_id = \(family) AND preferences.user_id = \(user))
        """
    }
}
