import Audit
import Contract
import Domain
import Postgres

extension Families {
    /// Returns a child's settings, for guardians and the child.
    func getChildSettings(_ caller: Caller, _ call: Call<MemberPath, NoBody>) async throws -> ChildSettingsResponse {
        let path = call.parameters
        let member = try await services.access.member(caller, of: path.familyID, services.database)
        guard member.role == .guardian || member.userID == path.userID else {
            try await services.refuse(caller, member, .childSettingsReadDenied, .guardianOrSelfOnly)
        }
        return try await settings(of: path, services.database)
    }

    /// Changes some of a child's settings, for guardians. Quiet hours need both a start and an end, or neither.
    package func updateChildSettings(
        _ caller: Caller, _ call: Call<MemberPath, ChildSettingsUpdate>
    ) async throws -> ChildSettingsResponse {
        let (path, update) = (call.parameters, call.body.withQuietHoursExplicit)
        return try await services.ledger.write(caller, in: path.familyID) { queries in
            let member = try await services.access.member(caller, of: path.familyID, queries)
            if let denial = member.denial(of: .editChildSettings) {
                return .denied(.childSettingsChangeDenied, to: member, denial)
            }
            let child = try await self.member(path.userID, of: path.familyID, queries)
            let current = try await settings(of: path, queries)
            let settings = current.applying(update)
            guard (settings.quietHoursStart == nil) == (settings.quietHoursEnd == nil) else {
                throw APIError.quietHoursAreIncomplete(
                    field: settings.quietHoursStart == nil ? "quiet_hours_start" : "quiet_hours_end")
            }
            guard settings != current else { return .answer(settings) }
            let act = Act(
                kind: .childSettingsChanged, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                subject: child.pseudonym, details: ["fields": update.fields.joined(separator: ",")],
                changesRights: true, stampedRows: 0,
                statements: [ChildSettingsStatements.set(settings)]
                    + NagStatements.makeDue(of: path.userID, at: caller.now))
            return .perform(act, settings)
        }
    }

    /// Returns the settings of a child.
    /// - Throws: 404 unless the user is an active child of the family.
    private func settings(of path: MemberPath, _ queries: any Queries) async throws -> ChildSettingsResponse {
        let rows = try await queries.query(ChildSettingsStatements.settings(of: path.userID, in: path.familyID))
        guard let row = rows.first else { throw APIError.noSuchChild }
        return ChildSettingsResponse(
            childID: path.userID, familyID: path.familyID, canSnooze: try row["can_snooze"],
            maxSnoozesPerDay: try row["max_snoozes_per_day"], canSubmitExcuses: try row["can_submit_excuses"],
            quietHoursStart: try row["quiet_hours_start"], quietHoursEnd: try row["quiet_hours_end"])
    }
}

extension ChildSettingsResponse {
    fileprivate func applying(_ update: ChildSettingsUpdate) -> ChildSettingsResponse {
        var settings = self
        settings.canSnooze = update.canSnooze ?? canSnooze
        settings.maxSnoozesPerDay = update.maxSnoozesPerDay ?? maxSnoozesPerDay
        settings.canSubmitExcuses = update.canSubmitExcuses ?? canSubmitExcuses
        settings.quietHoursStart = update.quietHoursStart.applied(to: quietHoursStart)
        settings.quietHoursEnd = update.quietHoursEnd.applied(to: quietHoursEnd)
        return settings
    }
}

extension ChildSettingsUpdate {
    /// The update as the mobile client means it: an update of all settings except quiet hours removes the quiet hours.
    /// Any other update is returned unchanged.
    fileprivate var withQuietHoursExplicit: ChildSettingsUpdate {
        guard canSnooze != nil, maxSnoozesPerDay != nil, canSubmitExcuses != nil, quietHoursStart.isAbsent,
            quietHoursEnd.isAbsent
        else { return self }
        var update = self
        (update.quietHoursStart, update.quietHoursEnd) = (.null, .null)
        return update
    }

    /// The names of the settings that the update contains.
    fileprivate var fields: [String] {
        [
            canSnooze.map { _ in "can_snooze" }, maxSnoozesPerDay.map { _ in "max_snoozes_per_day" },
            canSubmitExcuses.map { _ in "can_submit_excuses" },
            quietHoursStart.isAbsent ? nil : "quiet_hours_start", quietHoursEnd.isAbsent ? nil : "quiet_hours_end",
        ].compactMap(\.self)
    }
}
