import Postgres

/// The constraints, unique indexes and refusing triggers of the schema whose violation means something to a feature.
///
/// The raw values are their names in the database, which a test compares with its catalogue.
enum Constraint: String, CaseIterable {
    /// One account a mail address.
    case emailAddress = "users_email_key"
    /// One child a user name in a family.
    case childUsername = "child_usernames"
    /// A person is an active member of one family at most.
    case oneActiveFamily = "one_active_family"
    /// A deleted account is no member: violated by the deletion of a member's account, and by the admission of somebody whose
    /// account is deleted.
    case deletedIsNoMember = "deleted_is_no_member"
    /// One input an id.
    case inputID = "inputs_pkey"
    /// One write an idempotency key.
    case idempotencyKey = "idempotency_keys_pkey"
    /// One key a person: violated where another act kept one first.
    case subjectKey = "audit_subject_key_pkey"
}

extension PostgresError {
    /// Whether a statement was refused because it violates the constraint.
    func violates(_ constraint: Constraint) -> Bool { self.constraint == constraint.rawValue }
}
