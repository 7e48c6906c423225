import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server

/// A person with an account and a session.
struct TestPerson: Sendable, Hashable {
    let id: UserID
    let session: SessionID
    let pseudonym: Pseudonym
    let name: String
    var email: String? = nil
    var familyID: FamilyID? = nil
    var role: FamilyRole? = nil
}

/// A family with one of each kind of member, and people around it.
struct Household: Sendable {
    let id: FamilyID
    let inviteCode: String
    let childCode: String
    let guardian: TestPerson
    let secondGuardian: TestPerson
    let participant: TestPerson
    let child: TestPerson
    /// A former participant, whose account still exists.
    let removed: TestPerson
    /// A guardian of another family.
    let stranger: TestPerson
    let otherFamilyID: FamilyID

    var members: [TestPerson] { [guardian, secondGuardian, participant, child] }
}

extension TestServer {
    /// Inserts a family and the people around it into the database, without audit entries and events.
    /// - Parameter consents: the consents that the guardian has granted.
    func family(consents: [ConsentType] = [.childAccountCreation, .aiMediation, .gamificationParticipation])
        async throws -> Household
    {
        let id: FamilyID = random.identifier(at: clock.now())
        let otherID: FamilyID = random.identifier(at: clock.now())
        let (invite, child) = (random.code(10), random.code(6))
        let household = Household(
            id: id, inviteCode: invite, childCode: child, guardian: person("Gia", id, .guardian),
            secondGuardian: person("Gus", id, .guardian), participant: person("Pat", id, .participant),
            child: person("Cleo", id, .child), removed: person("Remy", id, .participant),
            stranger: person("Stan", otherID, .guardian), otherFamilyID: otherID)
        var statements = insertFamily(id, "The Tests", invite, child, household.guardian)
        statements += insertFamily(otherID, "The Others", random.code(10), random.code(6), household.stranger)
        for person in household.members + [household.removed] { statements += insert(person) }
        statements += insert(household.stranger)
        statements.append(
            """
            UPDATE memberships SET status = 'removed', removed_at = \(clock.now()) WHERE user_id = \(household.removed.id)
            """)
        statements += relationships(household.members, in: id)
        for type in consents { statements.append(grant(type, by: household.guardian)) }
        try await execute(statements)
        return household
    }

    /// Inserts an account that is in no family.
    /// - Parameter status: the value of the column `status` of `users`.
    func account(_ name: String = "Nell", status: String = "active") async throws -> TestPerson {
        let person = person(name, nil, nil)
        try await execute(insert(person, status: status))
        return person
    }

    /// Inserts another member of the family, and the relationships with the household's members.
    func member(_ name: String, _ role: FamilyRole, of household: Household) async throws -> TestPerson {
        let person = person(name, household.id, role)
        try await execute(insert(person) + household.members.map { relationship($0, person, in: household.id) })
        return person
    }

    /// Inserts the relationship between two members whom `member` inserted.
    func relate(_ one: TestPerson, _ other: TestPerson, in family: FamilyID) async throws {
        try await execute([relationship(one, other, in: family)])
    }

    /// Changes the account as its deletion and the person's erasure do. The sessions remain, so that tests can see
    /// their refusal.
    func deleteAccount(of person: TestPerson) async throws {
        try await execute([
            "UPDATE memberships SET status = 'removed', removed_at = \(clock.now()) WHERE user_id = \(person.id)",
            "UPDATE users SET status = 'deleted', pseudonym = NULL WHERE id = \(person.id)",
        ])
    }

    private func execute(_ statements: [SQL]) async throws {
        try await database.run { _ = try await $0.pipeline(statements) }
    }

    private func person(_ name: String, _ family: FamilyID?, _ role: FamilyRole?) -> TestPerson {
        let now = clock.now()
        let id: UserID = random.identifier(at: now)
        let email = role == .child ? nil : "\(name.lowercased())-\(String(id.description.suffix(12)))@example.org"
        return TestPerson(
            id: id, session: random.identifier(at: now), pseudonym: random.identifier(at: now), name: name,
            email: email,
            familyID: family, role: role)
    }

    // MARK: Rows

    private func insertFamily(_ id: FamilyID, _ name: String, _ invite: String, _ child: String, _ by: TestPerson)
        -> [SQL]
    {
        let now = clock.now()
        let policy: PolicyID = random.identifier(at: now)
        return [
            """
            INSERT INTO families (id, name, invite_code, child_code, created_at)
            VALUES (\(id), \(name), \(invite), \(child), \(now))
            """,
            "INSERT INTO family_clock (family_id) VALUES (\(id))",
            """
            INSERT INTO policies (family_id, id, owners, is_default, created_at)
            VALUES (\(id), \(policy), \(SQLList([by.id])), true, \(now))
            """,
        ]
    }

    private func insert(_ person: TestPerson, status: String = "active") -> [SQL] {
        let now = clock.now()
        let birth = person.role == .child ? "2014-05-01" : nil
        // Adults have a password hash, which no password matches.
        let hash = person.email.map { _ in "nobody's" }
        var statements: [SQL] = [
            """
            INSERT INTO users (id, email, display_name, password_hash, date_of_birth, status, pseudonym, created_at,
                               made_in_family)
            VALUES (\(person.id), \(person.email), \(person.name), \(hash), \(birth)::date, \(status),
                    \(person.pseudonym), \(now), \(person.role == .child ? person.familyID : nil))
            """,
            """
            INSERT INTO sessions (id, user_id, created_at, expires_at, is_child)
            VALUES (\(person.session), \(person.id), \(now), \(now + .days(3_650)), \(person.role == .child))
            """,
        ]
        guard let family = person.familyID, let role = person.role else { return statements }
        statements += [
            """
            INSERT INTO memberships (family_id, user_id, role, status, joined_at)
            VALUES (\(family), \(person.id), \(role), 'active', \(now))
            """,
            "INSERT INTO member_totals (family_id, user_id) VALUES (\(family), \(person.id))",
        ]
        if role == .child {
            statements.append("INSERT INTO child_settings (family_id, user_id) VALUES (\(family), \(person.id))")
        }
        return statements
    }

    private func relationships(_ members: [TestPerson], in family: FamilyID) -> [SQL] {
        members.indices.flatMap { first in
            members.indices.dropFirst(first + 1).map { relationship(members[first], members[$0], in: family) }
        }
    }

    private func relationship(_ one: TestPerson, _ other: TestPerson, in family: FamilyID) -> SQL {
        let id: RelationshipID = random.identifier(at: clock.now())
        return """
            INSERT INTO relationships (family_id, id, party_a, party_b, status)
            VALUES (\(family), \(id), \(min(one.id, other.id)), \(max(one.id, other.id)), 'active')
            """
    }

    /// Dates revoked consents back by a day, for tests that give a consent more often than `ConsentLimit` allows.
    func ageRevokedConsents() async throws {
        try await sql("UPDATE consents SET granted_at = granted_at - interval '1 day' WHERE revoked_at IS NOT NULL")
    }

    private func grant(_ type: ConsentType, by person: TestPerson) -> SQL {
        let id: ConsentID = random.identifier(at: clock.now())
        let family = type == .smsOptIn ? nil : person.familyID
        return """
            INSERT INTO consents (id, user_id, family_id, consent_type, granted_at)
            VALUES (\(id), \(person.id), \(family), \(type), \(clock.now()))
            """
    }
}

extension Household {
    /// Returns the person with this name of a role in the household; nil for another name.
    func somebody(_ who: String) -> TestPerson? {
        switch who {
        case "guardian": guardian
        case "second guardian": secondGuardian
        case "participant": participant
        case "child": child
        case "removed": removed
        case "stranger": stranger
        default: nil
        }
    }
}
