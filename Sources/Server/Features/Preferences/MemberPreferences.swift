import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import TimeZones

/// The preferences of a family's members: for the person, and for guardians.
package final class MemberPreferences {
    /// The version of the document's shape.
    static let schemaVersion = 2

    private let services: Services

    package init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `preferences`: what members want for themselves in a family.
    func register(in routes: RouteTable) {
        routes.signedIn(API.getPreferences, get)
        routes.signedIn(API.updatePreferences, update)
        routes.signedIn(API.getMemberPreferences, getForMember)
        routes.signedIn(API.updateMemberPreferences, updateForMember)
    }

    /// Returns the caller's own preferences.
    func get(_ caller: Caller, _ call: Call<FamilyQuery, NoBody>) async throws -> PreferenceResponse {
        try await read(caller, of: caller.userID, in: call.parameters.familyID)
    }

    /// Returns a member's preferences, for the member and the guardians.
    func getForMember(
        _ caller: Caller, _ call: Call<MemberPreferencesPath, NoBody>
    ) async throws -> PreferenceResponse {
        try await read(caller, of: call.parameters.userID, in: call.parameters.familyID)
    }

    /// Changes the caller's own preferences.
    package func update(_ caller: Caller, _ call: Call<FamilyQuery, PreferenceUpdate>) async throws
        -> PreferenceResponse
    {
        try await merge(call.body.preferences, caller, of: caller.userID, in: call.parameters.familyID)
    }

    /// Changes a member's preferences, for the member and the guardians.
    package func updateForMember(
        _ caller: Caller, _ call: Call<MemberPreferencesPath, PreferenceUpdate>
    ) async throws -> PreferenceResponse {
        try await merge(call.body.preferences, caller, of: call.parameters.userID, in: call.parameters.familyID)
    }

    private func read(_ caller: Caller, of user: UserID, in family: FamilyID) async throws -> PreferenceResponse {
        let member = try await services.access.member(caller, of: family, services.database)
        if let denial = RoleMatrix.denialOfMemberData(
            isSelf: user == caller.userID, by: MemberState(role: member.role))
        {
            try await services.refuse(caller, member, .preferencesReadDenied, denial)
        }
        return try await currentPreferences(of: user, inFamilyOf: member, services.database).response
    }

    /// Merges the document into the stored one, name by name; null removes a name.
    /// - Throws: 412 if the request's `If-Match` names another version.
    private func merge(
        _ update: JSONObject, _ caller: Caller, of user: UserID, in family: FamilyID
    ) async throws -> PreferenceResponse {
        let change = try PreferenceChange(update)
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            if let denial = RoleMatrix.denialOfMemberData(
                isSelf: user == caller.userID, by: MemberState(role: member.role))
            {
                return .denied(.preferencesChangeDenied, to: member, denial)
            }
            let current = try await currentPreferences(of: user, inFamilyOf: member, queries)
            if let tags = caller.context.ifMatch, !IfMatch.matches(current.entityTag, in: tags) {
                throw APIError.preferencesHaveChanged
            }
            try await ModelChoice(services.models).requireUsableModels(change, current.stored, of: user, queries)
            var changedPreferences = current
            changedPreferences.stored = try change.applied(to: current.stored)
            guard changedPreferences.stored != current.stored else { return .answer(current.response) }
            // The act gets the next sequence number of the ledger, or fails.
            changedPreferences.changeSeq = member.seq + 1
            changedPreferences.updatedAt = caller.now
            let count = DailyCount(limit: .preferenceChanges, user: member.userID)
            let act = Act(
                kind: .preferencesChanged, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                subject: current.pseudonym, details: change.details, changesRights: true, stampedRows: 0,
                statements: [
                    storeStatement(changedPreferences.stored, after: current, at: caller.now),
                    try await count.checkedIncrement(at: caller.now, queries),
                ]
                    + (change.mayMoveEscalationSteps ? NagStatements.makeDue(of: user, at: caller.now) : [])
                    + (changedPreferences.stored.switchesServerAIOff
                        ? [DraftStatements.expireSwitchedOff(of: user, at: caller.now)] : []))
            return .perform(act, changedPreferences.response)
        }
    }

    /// Returns the statement of an act that stores preferences. Somebody who switches to a daily digest after today's
    /// time for it gets the first digest tomorrow.
    private func storeStatement(
        _ stored: StoredPreferences, after current: CurrentPreferences, at now: Timestamp
    ) -> SQL {
        let (old, new) = (
            current.stored.effective(familyZone: current.familyZone), stored.effective(familyZone: current.familyZone)
        )
        let hasDigest = new.notificationFrequency == .dailyDigest
        let startsDigests = hasDigest && old.notificationFrequency != .dailyDigest
        return PreferenceStatements.store(
            stored, of: current.user, hasDigest: hasDigest,
            skippedDate: startsDigests
                ? DigestDecision.skippedDate(at: new.digestAt, now: now, zone: services.zones.zoneOrUTC(new.timeZone))
                : nil,
            at: now)
    }

    /// Returns a member's current preferences.
    /// - Throws: 404 for somebody who is no active member.
    private func currentPreferences(
        of user: UserID, inFamilyOf member: Member, _ queries: any Queries
    ) async throws -> CurrentPreferences {
        let rows = try await queries.query(PreferenceStatements.current(of: user, in: member.familyID))
        guard let row = rows.first else { throw APIError.noSuchMember }
        return CurrentPreferences(
            user: user, family: member.familyID, familyZone: member.familyZone, pseudonym: try row["pseudonym"],
            stored: try row["prefs"], changeSeq: try row["changed_by"], updatedAt: try row["updated_at"])
    }
}

/// A member's current preferences.
private struct CurrentPreferences {
    let user: UserID
    let family: FamilyID
    let familyZone: String
    let pseudonym: Pseudonym
    var stored: StoredPreferences
    /// The ledger's sequence number of the last change; 0 if nothing was ever set.
    var changeSeq: Int64
    var updatedAt: Timestamp

    var response: PreferenceResponse {
        PreferenceResponse(
            userID: user, familyID: family, schemaVersion: MemberPreferences.schemaVersion,
            preferences: stored.documentWithDefaults(familyZone: familyZone), etag: entityTag, updatedAt: updatedAt)
    }

    /// A strong entity tag, with its quotes. It changes with the stored preferences and with the family's time zone,
    /// which the document shows.
    var entityTag: String {
        let state = sha256(Array("\(changeSeq) \(updatedAt.microseconds) \(familyZone)".utf8))
        return "\"\(base64URL(Array(state.prefix(16))))\""
    }
}
