import SQL

/// The entities of the feed: the members of their JSON, and the columns from which these are read.
///
/// A column has its member's name unless another is given. Each column costs time for every row of a page, so numbers
/// are read as the text that the JSON contains.
enum FeedEntities {
    static let nagColumns = FeedSelectList.columns(.nags) { nag(&$0) }
    static let nagEventColumns = FeedSelectList.columns(.nagEvents) { nagEvent(&$0) }
    static let mediationColumns = FeedSelectList.columns(.mediation) { mediation(&$0) }
    static let pointsColumns = FeedSelectList.columns(.points) { points(&$0) }
    static let connectionColumns = FeedSelectList.columns(.connections, stamp: "created_at") { connection(&$0) }

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
        members.moment("opens_at")
    }

    /// Events of missed nags contain the recipient, because a device counts misses by person, also of nags that have
    /// left the feed.
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
        members.text("source")
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
    static func connection<Members: FeedMembers & ~Copyable>(_ members: inout Members) {
        members.id("id")
        members.id("inviter_id")
        members.optionalID("invitee_id", "shown_invitee_id")
        members.text("invitee_email")
        members.text("status")
        members.verbatim("caregiver", "caregiver::text")
        members.moment("created_at")
        members.moment("responded_at")
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
