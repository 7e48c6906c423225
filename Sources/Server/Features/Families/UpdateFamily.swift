import Audit
import Contract
import Domain
import TimeZones

extension Families {
    /// Changes a family's name or time zone, for guardians. The new zone applies at once, also to the current day and
    /// week.
    func update(_ caller: Caller, _ call: Call<FamilyPath, FamilyUpdate>) async throws -> FamilyResponse {
        let update = call.body
        if let zone = update.timeZone { try Self.requireZone(zone) }
        return try await services.ledger.write(caller, in: call.parameters.familyID) { queries in
            let member = try await services.access.member(caller, of: call.parameters.familyID, queries)
            if let denial = member.denial(of: .editFamily) {
                return .denied(.familyChangeDenied, to: member, denial)
            }
            let current = try await response(for: member, queries)
            var family = current
            family.name = update.name ?? current.name
            family.timeZone = update.timeZone ?? current.timeZone
            guard family != current else { return .answer(current) }
            // The audit log outlives the family's name, so it records only that the name changed.
            var fields: [String] = []
            if family.name != current.name { fields.append("name") }
            if family.timeZone != current.timeZone { fields.append("time_zone") }
            return .perform(
                Act(
                    kind: .familyChanged, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                    resource: family.id.retyped(),
                    details: ["fields": fields.joined(separator: ","), "time_zone": family.timeZone],
                    changesRights: true, stampedRows: 0,
                    statements: [
                        FamilyStatements.set(name: family.name, timeZone: family.timeZone, at: caller.now)
                    ]
                        + (family.timeZone == current.timeZone
                            ? []
                            : NagStatements.makeMemberNagsDue(at: caller.now)
                                + [PreferenceStatements.makeDigestsDue(at: caller.now)])),
                family)
        }
    }

    /// Requires a time zone that this server knows.
    /// - Throws: 422 for another name.
    static func requireZone(_ name: String) throws(APIError) {
        guard ZoneDatabase.system.zone(name) != nil else { throw APIError.timeZoneIsUnknown }
    }
}
