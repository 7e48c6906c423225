import SQL

extension AttachmentStatements {
    /// Reads the pictures that a person uploaded, without their bytes, which are at `url`.
    static func exported(_ page: ExportPage) -> SQL {
        """
        SELECT a.id, jsonb_build_object(
            'id', a.id, 'url', '/attachments/' || a.id, 'nag_id', b.nag_id, 'filename', a.filename,
            'content_type', a.content_type, 'size', a.size,
            'created_at', \(ExportPage.moment("a.created_at")))::text AS json
        FROM attachments a LEFT JOIN nag_attachments b ON b.attachment_id = a.id
        WHERE a.uploader_id = \(page.user) AND a.id > \(page.after)
        ORDER BY a.id LIMIT \(page.limit)
        """
    }
}
