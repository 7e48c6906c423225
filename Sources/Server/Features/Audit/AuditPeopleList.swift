import Contract
import Domain
import Postgres

/// The lists of the people that an audit log names, and of their consents.
final class AuditPeopleList {
    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Lists the actors that are not people, and the people of the named family or of the caller's own. An
    /// administrator also gets all administrators; without a family, no other people.
    func list(_ caller: Caller, _ call: Call<AuditScopeQuery, NoBody>) async throws -> AuditPeople {
        let reader = try await services.authorizeAndRecordRead(
            caller, of: call.parameters.familyID, reading: API.listAuditPeople.operation)
        return AuditPeople(items: try await services.auditPeople(for: reader))
    }

    /// Lists the consents in force for each member of a family.
    func listConsents(_ caller: Caller, _ call: Call<FamilyQuery, NoBody>) async throws -> AuditConsents {
        let family = call.parameters.familyID
        _ = try await services.authorizeAndRecordRead(caller, of: family, reading: API.listAuditConsents.operation)
        let rows = try await services.database.query(ConsentStatements.consentsInForce(in: family))
        return AuditConsents(
            items: try rows.map { row throws(PostgresError) in
                AuditConsent(
                    person: try row["pseudonym"], userID: try row["user_id"], type: try row["consent_type"],
                    givenBy: try row["giver"], givenByID: try row["giver_id"], grantedAt: try row["granted_at"])
            })
    }
}

extension Services {
    /// Returns the people that the reader's audit log can name, and the actors that are not people.
    ///
    /// The people are a family's present and former members or a connection's parties. An administrator gets members
    /// without names and no parties, and also all administrators with their email addresses as names.
    func auditPeople(for reader: AuditReader) async throws -> [AuditPerson] {
        var people = AuditPerson.systemActors
        if let family = reader.family {
            people += try await database.query(AuditStatements.currentAndFormerMembers(of: family)).map {
                row throws(PostgresError) in
                let (isMember, role): (Bool, FamilyRole) = (try row["is_member"], try row["role"])
                return AuditPerson(
                    person: try row["pseudonym"], userID: try row["id"],
                    name: reader.isAdmin ? nil : try row["name"], role: isMember ? role.rawValue : "former_member")
            }
        }
        if let family = reader.family, !reader.isAdmin {
            people += try await database.query(ConnectionStatements.partyNames(of: family)).map {
                row throws(PostgresError) in
                AuditPerson(
                    person: try row["pseudonym"], userID: try row["id"], name: try row["display_name"], role: "party")
            }
        }
        if reader.isAdmin {
            people += try await database.query(AuditStatements.currentAndFormerAdministrators).map {
                row throws(PostgresError) in
                let isCurrent: Bool = try row["is_current"]
                return AuditPerson(
                    person: try row["pseudonym"], userID: try row["id"], name: try row["name"],
                    role: isCurrent ? "administrator" : "former_administrator")
            }
        }
        return people
    }

    /// Returns the filter of all conditions; nil if no entry can match. A search text also matches the people whose
    /// names, as the reader sees them, contain it.
    func auditFilter(_ query: AuditConditions, for reader: AuditReader) async throws -> AuditFilter? {
        let text = AuditFilter.searchText(of: query).lowercased()
        let isSearch = !text.isEmpty && ResourceID(text) == nil
        let namedPeople =
            isSearch ? try await auditPeople(for: reader).filter { $0.name?.lowercased().contains(text) ?? false } : []
        guard var filter = try await AuditFilter(query, namedPeople: namedPeople.map(\.person), database) else {
            return nil
        }
        if query.withoutOwnReads, let administrator = reader.administrator {
            filter.conditions.append(.excludingReadsBy(administrator))
        }
        return filter
    }
}

extension AuditPerson {
    /// The actors that are not people.
    static let systemActors: [AuditPerson] = [
        (SystemActor.scheduler.retyped(), "Scheduler"), (SystemActor.mediator, "AI mediator"),
        (SystemActor.guest, "Not signed in"), (SystemActor.commandLine, "Command line"),
    ].map { AuditPerson(person: $0.0, userID: nil, name: $0.1, role: "system") }
}
