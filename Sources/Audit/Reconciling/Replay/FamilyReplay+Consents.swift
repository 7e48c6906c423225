import Domain

extension FamilyReplay {
    /// The type of a consent that belongs to a person, not to a family. It is reconciled with the accounts.
    private static let personalConsentType = "sms_opt_in"

    mutating func grantConsent(_ entry: AuditEntry, _ body: AuditBody?) {
        guard let id = entry.act.resource, body?["type"] != Self.personalConsentType else { return }
        let person = entry.act.subject
        // An entry without details may be about a personal consent.
        insert(
            .consent, .id(id),
            [
                "user": .person(person), "revoked": "false", "type": ExpectedValue("type", of: person, in: body),
                "granted_seq": ExpectedValue(entry.number),
            ], by: entry, isOptional: body == nil)
    }

    mutating func revokeConsent(_ entry: AuditEntry) {
        guard let id = entry.act.resource else { return }
        update(.consent, .id(id), ["revoked": "true"], by: entry)
    }

    mutating func revokeConsents(of person: Pseudonym, _ entry: AuditEntry) {
        for key in keys(.consent, where: { $0["user"] == .person(person) && $0["revoked"] == "false" }) {
            update(.consent, key, ["revoked": "true"], by: entry)
        }
    }
}
