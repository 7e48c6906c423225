import Contract
import Domain
import Postgres
import SQL

/// Every statement on pictures. Deleting an attachment removes it from its nag too.
enum AttachmentStatements {
    // MARK: Reading

    /// Reads the caller, and the attachment with its nag and the caller's relation to the nag, as of one moment. No
    /// row: the session has ended. Without such an attachment, its columns are null.
    static func attachment(_ attachment: AttachmentID, for caller: Caller) -> SQL {
        """
        SELECT u.status AS account_status, a.uploader_id, a.filename, a.content_type, a.size, a.digest, n.creator_id,
               n.recipient_id, n.connection_id, CASE WHEN m.family_id = n.family_id THEN m.role END AS role,
               \(NagStatements.guardsRecipient)
        FROM users u
        LEFT JOIN attachments a ON a.id = \(attachment)
        LEFT JOIN nag_attachments b ON b.attachment_id = a.id
        LEFT JOIN nags n ON n.family_id = b.family_id AND n.id = b.nag_id
        LEFT JOIN memberships m ON m.user_id = u.id AND m.status = 'active'
        \(NagStatements.recipientMembershipJoin)
        WHERE u.id = \(caller.userID) AND \(caller.sessionCheck)
        """
    }

    /// Reads a part of the bytes. It checks no authorisation.
    static func bytes(of attachment: AttachmentID, _ range: Range<Int>) -> SQL {
        """
        SELECT substring(bytes FROM \(range.lowerBound + 1)::integer FOR \(range.count)::integer) AS bytes
        FROM attachments WHERE id = \(attachment)
        """
    }

    /// An expression: the ids of the attachments of the nag `n`, in order; null if there are none, which is
    /// decided without a read.
    static let attachmentIDs: SQL = """
        CASE WHEN n.has_attachments THEN (
            SELECT array_agg(b.attachment_id ORDER BY b.position)
            FROM nag_attachments b WHERE b.family_id = n.family_id AND b.nag_id = n.id) END
        """

    /// Counts those of the uploads that a nag of the uploader's may use.
    static func countUsable(_ attachments: [AttachmentID], of uploader: UserID, at now: Timestamp) -> SQL {
        """
        SELECT count(*) AS count FROM attachments
        WHERE id = ANY(\(SQLList(attachments))) AND uploader_id = \(uploader) AND NOT is_used
            AND created_at > \(now - AttachmentLimit.usableTimeAfterUpload)
        """
    }

    /// Reads the total size of a person's uploads that no nag uses, in bytes.
    static func sumUnusedBytes(of uploader: UserID) -> SQL {
        """
        SELECT coalesce(sum(size), 0)::bigint AS size FROM attachments
        WHERE uploader_id = \(uploader) AND NOT is_used
        """
    }

    // MARK: Statements of an act

    static func insert(
        _ attachment: AttachmentResponse, _ bytes: [UInt8], digest: [UInt8], by uploader: UserID, at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO attachments (id, uploader_id, filename, content_type, size, digest, created_at, bytes)
        SELECT \(attachment.id), \(uploader), \(attachment.filename), \(attachment.contentType),
               \(attachment.size)::integer, \(digest), \(now), \(bytes)
        FROM ledger_stamp
        """
    }

    /// Parts of an act: attach uploads to a new nag, in the order of the array.
    static func attach(_ attachments: [AttachmentID], in nag: NagID) -> [SQL] {
        if attachments.isEmpty { return [] }
        let list = SQLList(attachments)
        return [
            """
            INSERT INTO nag_attachments (attachment_id, family_id, nag_id, position)
            SELECT given.id, ledger_stamp.family_id, \(nag), given.position::smallint
            FROM ledger_stamp, unnest(\(list)) WITH ORDINALITY AS given (id, position)
            """,
            "UPDATE attachments SET is_used = true FROM ledger_stamp WHERE attachments.id = ANY(\(list))",
        ]
    }

    static func deleteAll(of uploader: UserID) -> SQL {
        "DELETE FROM attachments USING ledger_stamp WHERE attachments.uploader_id = \(uploader)"
    }
}
