import SQL

/// What the feed carries: the JSON members of each entity, and the columns that they are read from.
///
/// A column is named by its member unless it says otherwise. Every column costs each of a page's thousand rows: numbers go
/// as text, as they are answered.
enum FeedEntities {
    static let nagColumns = FeedSelectList.of(.nags) { nag(&$0) }
    static let nagEventColumns = FeedSelectList.of(.nagEvents) { nagEvent(&$0) }
    static let mediationColumns = FeedSelectList.of(.mediation) { mediation(&$0) }
    static let pointsColumns = FeedSelectList.of(.points) { points(&$0) }

    @inline(__always)
    static func nag<Members: FeedMembers & ~Copyable>(_ members: inout Members) {
        members.id("id")
        members.family("family_id")
        members.id("creator_id")
        members.id("recipient_id")
        members.moment("due_at")
        members.text("category")
        members.text("done_definition")
        members.text("description")
        members.text("status", "n.status")
        members.moment("created_at")
        members.moment("committed_at")
    }

    /// Missed nags carry whose they were: a device counts misses by person, also of nags that left the feed before.
    @inline(__always)
    static func nagEvent<Members: FeedMembers & ~Copyable>(_ members: inout Members) {
        members.id("id")
        members.id("nag_id")
        members.text("event_type")
        members.id("actor_id")
        members.moment("at")
        members.verbatim(
            "payload",
            """
            CASE event_type WHEN 'nag_missed' THEN (payload || jsonb_build_object('recipient_id', recipient_id))::text
                ELSE payload::text END
            """)
    }

    @inline(__always)
    static func mediation<Members: FeedMembers & ~Copyable>(_ members: inout Members) {
        members.id("id")
        members.id("nag_id")
        members.text("prompt_type")
        members.text("tone")
        members.text("summary")
        members.moment("at")
    }

    @inline(__always)
    static func points<Members: FeedMembers & ~Copyable>(_ members: inout Members) {
        members.id("id")
        members.family("family_id")
        members.id("user_id")
        members.text("event_type")
        members.verbatim("delta_points", "delta_points::text")
        members.verbatim("streak_delta", "streak_delta::text")
        members.moment("at")
    }
}
