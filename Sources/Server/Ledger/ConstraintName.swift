import Postgres

/// The constraints, unique indexes and triggers whose violation a feature turns into an answer.
///
/// The raw values are their names in the database; a test compares them with its catalog.
enum ConstraintName: String, CaseIterable {
    /// One account for each email address.
    case emailAddress = "users_email_key"
    /// One device for each push token.
    case deviceToken = "devices_token_key"
    /// One child for each user name in a family.
    case childUsername = "child_usernames"
    /// A person is an active member of one family at most.
    case oneActiveFamily = "one_active_family"
    /// A deleted account has no membership. Violated by deleting the account of a member, and by adding a deleted
    /// account to a family.
    case deletedIsNoMember = "deleted_is_no_member"
    /// A deleted account has no pending or active connection. Violated by deleting the account of a connected person,
    /// and by connecting a deleted account.
    case deletedHasNoConnection = "deleted_has_no_connection"
    /// A nag of a connection is for the other party, or for a child whom the other party shares.
    case nagHasConnection = "nag_has_connection"
    /// A child that leaves a family, or whose guardian leaves it, has no open nag of a connection.
    case departedHasNoConnectionNag = "departed_has_no_connection_nag"
    /// Two people of whom one blocks the other have no open nag of a connection.
    case blockedHasNoConnectionNag = "blocked_has_no_connection_nag"
    /// Two people have one pending or active connection.
    case onePendingOrActiveConnection = "one_living_connection"
    /// An upload is used by one nag.
    case oneNagPerAttachment = "nag_attachments_pkey"
    /// A nag uses uploads that exist.
    case attachmentExists = "nag_attachments_attachment_id_fkey"
    /// One input for each id.
    case inputID = "inputs_pkey"
    /// One write for each idempotency key.
    case idempotencyKey = "idempotency_keys_pkey"
    /// One sealing key for each person: violated where another act stored one first.
    case subjectKey = "audit_subject_key_pkey"
}

extension PostgresError {
    /// Returns whether a statement was refused because it violates the constraint.
    func violates(_ constraint: ConstraintName) -> Bool { self.constraint == constraint.rawValue }
}
