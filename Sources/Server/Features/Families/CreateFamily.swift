import Audit
import Contract
import Domain
import SQL

extension Families {
    /// Creates a family with its ledger and its default policy. The caller becomes its guardian.
    package func create(_ caller: Caller, _ call: Call<NoParameters, FamilyCreate>) async throws -> FamilyResponse {
        try await create(caller, call, id: services.random.identifier(at: caller.now))
    }

    /// Creates a family with a given ID.
    /// - Parameter id: the ID of the new family, which only seeds choose themselves.
    package func create(
        _ caller: Caller, _ call: Call<NoParameters, FamilyCreate>, id: FamilyID
    ) async throws -> FamilyResponse {
        let (now, random) = (caller.now, services.random)
        if let zone = call.body.timeZone { try Self.requireZone(zone) }
        let family = FamilyResponse(
            id: id, name: call.body.name, inviteCode: makeCode(), childCode: makeCode(),
            timeZone: call.body.timeZone ?? Preferences.standardTimeZone, createdAt: now)
        return try await mappingMembershipConflict {
            try await services.ledger.createFamilyLedger(caller, family.id) { queries in
                let account = try await services.access.account(caller, queries)
                guard account.family == nil else { throw APIError.personHasFamily }
                if account.isAdmin { throw APIError(.authorizationDenied, .administratorJoinsNoFamily) }
                let policy: PolicyID = random.identifier(at: now)
                let act = Act(
                    kind: .familyCreated, basis: .nothing, actor: account.pseudonym, subject: account.pseudonym,
                    resource: family.id.retyped(),
                    details: ["policy": policy.description, "user": account.id.description], changesRights: true,
                    stampedRows: 0,
                    statements: admission(of: account.id, as: .guardian, at: now) + [
                        PolicyStatements.insertDefault(policy, owner: account.id, at: now)
                    ])
                return (FamilyStatements.create(family), act, family)
            }
        }
    }
}
