import Contract
import Domain
import SQL

/// Statements of the worker that sends deliveries.
extension DeliveryStatements {
    /// Claims the deliveries of a channel that have been due longest, each until its lease ends, and counts an attempt.
    /// A delivery that was already sent is claimed for its next reminder. Rows that another worker has locked are
    /// skipped. The cost does not grow with deliveries that were sent before, nor with reminders that are due later.
    static func claim(_ channel: DeliveryChannel, limit: Int, at now: Timestamp, until leaseEnd: Timestamp) -> SQL {
        """
        WITH due AS MATERIALIZED (
            SELECT family_id, id, next_attempt FROM deliveries
            WHERE channel = \(channel.rawValue) AND next_attempt <= \(now)
            ORDER BY next_attempt LIMIT \(limit) FOR UPDATE SKIP LOCKED
        )
        UPDATE deliveries d SET attempts = d.attempts + 1, next_attempt = \(leaseEnd)
        FROM due WHERE d.family_id = due.family_id AND d.id = due.id
        RETURNING d.family_id, d.id, d.nag_id, d.user_id, d.digest_on IS NOT NULL AS is_digest,
                  d.attempts::bigint AS attempts, d.created_at, due.next_attempt AS due_at,
                  d.repeats::bigint AS repeats, d.status <> 'pending' AS is_repeat
        """
    }

    /// Reads the words of a claimed delivery, and everything that decides whether it is still to be sent and when its
    /// recipient is reminded again. It returns no row if another worker has claimed or sent it, or if it has ended.
    static func facts(of claim: ClaimedDelivery) -> SQL {
        """
        SELECT n.status AS nag_status, n.category,
               CASE WHEN d.draft_id IS NOT NULL THEN x.body->>'message'
                    WHEN e.event_type = 'push_back_sent' THEN e.payload->>'message'
                    ELSE n.description END AS description,
               n.due_at, n.committed_at, n.phase::bigint AS nag_phase,
               n.cycle_started_at, n.phase_since, n.cycle_started_at > e.at AS is_restarted,
               coalesce(d.user_id = n.recipient_id, false) AS is_recipient, d.sent_at,
               \(eventType) AS event_type, e.payload->>'phase' AS phase,
               d.acknowledged, u.pseudonym, f.time_zone,
               CASE WHEN d.channel = 'sms' THEN u.phone END AS phone,
               coalesce(u.status = 'active' AND CASE
                   WHEN \(Notice.isPersonal) THEN true
                   WHEN d.connection_event IS NOT NULL
                       THEN \(ConnectionStatements.isUnblocked(
                               "d.family_id", isActive: "d.connection_event = 'connection_accepted'"))
                   WHEN n.connection_id IS NULL THEN m.status = 'active'
                   ELSE \(ConnectionStatements.isActive("n.connection_id")) END, false) AS is_member,
               \(RealtimeStatements.hasLiveSocket("d.user_id")) AS is_live,
               \(PreferenceStatements.preferences(of: "d.user_id", in: "m.family_id")) AS prefs,
               \(PreferenceStatements.childQuietHoursColumns),
               \(ConsentStatements.isInForce(.smsOptIn, user: "d.user_id", family: "m.family_id")) AS may_text,
               \(BlockStatements.isBlocked(between: sender, and: receiver)) AS is_blocked,
               \(RelationshipStatements.isSuspended(between: sender, and: receiver)) AS is_suspended,
               d.draft_id IS NOT NULL AND x.id IS NULL AS is_draft_deleted,
               d.draft_id IS NULL
                   OR \(ConsentStatements.isInForce(.aiMediation, user: "d.user_id", family: "d.family_id"))
                   AS may_mediate,
               EXISTS (SELECT FROM deliveries later WHERE later.family_id = d.family_id AND later.nag_id = d.nag_id
                   AND later.user_id = d.user_id AND later.status <> 'failed'
                   AND (later.channel = d.channel OR d.status <> 'pending') AND later.nag_event_id <> d.nag_event_id
                   AND (later.created_at, later.id) > (d.created_at, d.id))
                   OR EXISTS (SELECT FROM deliveries later WHERE later.family_id = d.family_id
                       AND later.user_id = d.user_id AND later.channel = d.channel AND later.digest_on > d.digest_on
                       AND later.status <> 'failed') AS is_superseded,
               past.was_notified, past.in_flight_until,
               \(AuditStatements.trace(ofAct: "e.sync_seq", in: "d.family_id")) AS trace
        FROM deliveries d
        LEFT JOIN users u ON u.id = d.user_id
        LEFT JOIN nags n ON n.family_id = d.family_id AND n.id = d.nag_id
        -- The person's own family, if the delivery is about a connection, one of its nags, or a personal notice.
        LEFT JOIN memberships m ON m.user_id = d.user_id AND CASE
            WHEN \(Notice.isPersonal) THEN m.status = 'active'
            ELSE m.family_id = d.family_id
                 OR (n.connection_id IS NOT NULL OR d.connection_event IS NOT NULL) AND m.status = 'active' END
        LEFT JOIN families f ON f.id = m.family_id
        LEFT JOIN child_settings k ON k.family_id = m.family_id AND k.user_id = d.user_id
        LEFT JOIN nag_events e ON e.family_id = d.family_id AND e.nag_id = d.nag_id AND e.id = d.nag_event_id
        LEFT JOIN drafts x ON x.family_id = d.family_id AND x.id = d.draft_id
        -- Whether the person was notified of a nag that was withdrawn, and until when that may still be sent.
        LEFT JOIN LATERAL (
            SELECT bool_or(earlier.status IN ('sent', 'delivered') OR earlier.acknowledged <> '{}') AS was_notified,
                   max(earlier.next_attempt) FILTER (WHERE earlier.attempts > 0) AS in_flight_until
            FROM deliveries earlier WHERE earlier.family_id = d.family_id AND earlier.nag_id = d.nag_id
                AND earlier.user_id = d.user_id AND (earlier.created_at, earlier.id) < (d.created_at, d.id)
        ) past ON e.event_type = 'nag_withdrawn'
        WHERE d.family_id = \(claim.familyID) AND d.id = \(claim.id) AND d.next_attempt IS NOT NULL
            AND (d.status <> 'pending') = \(claim.isRepeat) AND d.repeats = \(claim.earlierRepeatCount)::bigint
            AND d.attempts = \(claim.attempt)::bigint
        """
    }

    /// An expression: the creator of the nag, or the person who executed the draft. A block or a suspension between
    /// this person and the `receiver` stops the delivery.
    private static let sender: SQL = "coalesce(x.executed_by, n.creator_id)"
    /// An expression: the recipient of the nag, or the person who is notified of the draft.
    private static let receiver: SQL = "CASE WHEN d.draft_id IS NULL THEN n.recipient_id ELSE d.user_id END"

    // MARK: Outcomes

    /// Records that a provider has acknowledged the message, also if another worker has claimed it meanwhile.
    /// - Parameter next: the time of the next reminder; nil if this was the last.
    static func markSent(_ claim: ClaimedDelivery, reference: String?, at now: Timestamp, next: Timestamp?) -> SQL {
        """
        UPDATE deliveries SET status = 'sent', provider_ref = \(reference),
            \(sentAssignments(claim, at: now, next: next))
        WHERE \(isSameMessage(claim))
        """
    }

    /// Records that the person has a live socket, and so needs no push message.
    static func markDelivered(_ claim: ClaimedDelivery, at now: Timestamp, next: Timestamp?) -> SQL {
        """
        UPDATE deliveries SET status = 'delivered', provider_ref = 'socket',
            \(sentAssignments(claim, at: now, next: next))
        WHERE \(isStillClaimed(claim))
        """
    }

    /// Returns the assignments that `markSent` and `markDelivered` share. If another reminder follows, the count of
    /// attempts and the list of devices that acknowledged the message begin anew.
    private static func sentAssignments(_ claim: ClaimedDelivery, at now: Timestamp, next: Timestamp?) -> SQL {
        """
        sent_at = \(now), first_sent_at = coalesce(first_sent_at, sent_at, \(now)), failure = NULL, next_attempt = \(next),
            repeats = repeats + \(claim.isRepeat ? 1 : 0)::integer,
            attempts = CASE WHEN \(next != nil) THEN 0 ELSE attempts END,
            acknowledged = CASE WHEN \(next != nil) THEN '{}' ELSE acknowledged END
        """
    }

    /// Schedules another attempt for the devices that have not acknowledged the message.
    /// - Parameter acknowledged: all devices that have acknowledged it, in this attempt or an earlier one.
    static func scheduleRetry(
        _ claim: ClaimedDelivery, at next: Timestamp, because failure: String, acknowledged: [DeviceID]
    ) -> SQL {
        """
        UPDATE deliveries SET next_attempt = \(next), failure = \(failure), acknowledged = \(SQLList(acknowledged))
        WHERE \(isStillClaimed(claim))
        """
    }

    /// Postpones the delivery, without counting the attempt.
    static func postpone(_ claim: ClaimedDelivery, until moment: Timestamp) -> SQL {
        """
        UPDATE deliveries SET next_attempt = \(moment), attempts = attempts - 1
        WHERE \(isStillClaimed(claim))
        """
    }

    /// Ends a delivery that is not sent: it has failed, or is dropped because it is no longer needed. A delivery that
    /// was sent before stays sent, without further reminders.
    static func markFailed(_ claim: ClaimedDelivery, because failure: String, isDropped: Bool) -> SQL {
        let result: SQL = claim.isRepeat ? "" : "status = 'failed', dropped = \(isDropped),"
        return """
            UPDATE deliveries SET \(result) failure = \(failure), next_attempt = NULL
            WHERE \(isStillClaimed(claim))
            """
    }

    /// A condition: the claim is still this worker's. Each attempt has a number, so that a worker whose lease has
    /// ended does not overwrite the result of another.
    private static func isStillClaimed(_ claim: ClaimedDelivery) -> SQL {
        "\(isSameMessage(claim)) AND attempts = \(claim.attempt)::bigint"
    }

    /// A condition: the message or the reminder that was claimed is still to be sent.
    private static func isSameMessage(_ claim: ClaimedDelivery) -> SQL {
        """
        family_id = \(claim.familyID) AND id = \(claim.id) AND next_attempt IS NOT NULL
            AND (status <> 'pending') = \(claim.isRepeat) AND repeats = \(claim.earlierRepeatCount)::bigint
        """
    }
}
