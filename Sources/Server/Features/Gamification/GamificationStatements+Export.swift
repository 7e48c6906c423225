import Domain
import SQL

extension GamificationStatements {
    /// Reads a page of a person's gamification events in a family, for an export.
    static func exportedEvents(_ page: ExportPage, in family: FamilyID) -> SQL {
        """
        SELECT g.id, jsonb_build_object(
            'id', g.id, 'family_id', g.family_id, 'event_type', g.event_type, 'delta_points', g.delta_points,
            'streak_delta', g.streak_delta, 'nag_id', g.nag_id, 'at', \(ExportPage.moment("g.at")))::text AS json
        FROM gamification_events g WHERE g.family_id = \(family) AND g.user_id = \(page.user) AND g.id > \(page.after)
        ORDER BY g.id LIMIT \(page.limit)
        """
    }

    /// Reads a page of a person's badges in a family, for an export, including those that clients do not show.
    static func exportedBadges(_ page: ExportPage, in family: FamilyID) -> SQL {
        """
        SELECT b.id, jsonb_build_object(
            'id', b.id, 'family_id', b.family_id, 'badge_type', b.badge_type,
            'earned_at', \(ExportPage.moment("b.earned_at")))::text AS json
        FROM badges b WHERE b.family_id = \(family) AND b.user_id = \(page.user) AND b.id > \(page.after)
        ORDER BY b.id LIMIT \(page.limit)
        """
    }
}
