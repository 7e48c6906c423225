import Domain
import SQL

extension PreferenceStatements {
    /// Reads the preferences that a person has set in a family; the row's `id` is the family's.
    static func exported(_ page: ExportPage, in family: FamilyID) -> SQL {
        """
        SELECT p.family_id AS id, jsonb_build_object(
            'family_id', p.family_id, 'preferences', p.prefs,
            'updated_at', \(ExportPage.moment("p.updated_at")))::text AS json
        FROM preferences p WHERE p.family_id = \(family) AND p.user_id = \(page.user) AND p.family_id > \(page.after)
        ORDER BY p.family_id LIMIT \(page.limit)
        """
    }
}
