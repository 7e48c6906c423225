import Audit
import Contract
import Domain
import Postgres
import SQL

/// The caller's own account, as an app shows it at its start.
final class Me {
    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers operations of the tag `accounts`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.getMe, get)
        routes.signedIn(API.updateMe, update)
    }

    /// Returns the caller's account, even while it waits for a guardian's consent.
    func get(_ caller: Caller, _ call: Call<NoParameters, NoBody>) async throws -> MeResponse {
        try await response(for: caller)
    }

    /// Returns the caller's account, family, consents and enabled features.
    func response(for caller: Caller) async throws -> MeResponse {
        let database = services.database
        let account = try await services.access.account(caller, acceptsWaiting: true, database)
        let profile = try await database.query(AccountStatements.profile(caller.userID)).onlyRow()
        let phone: String? = try profile["phone"]
        var me = MeResponse(
            id: account.id, email: account.email, phone: phone.flatMap { try? PhoneNumber(wireText: $0) },
            displayName: account.displayName, status: try profile["status"], createdAt: try profile["created_at"],
            isAdministrator: account.isAdmin, family: nil, consents: [],
            switchedOn: SwitchedOn(ai: false, points: false, sms: false), webPushKey: services.webPushKey)
        guard let familyID = account.family else { return me }
        let member = try await services.access.member(caller, of: familyID, database)
        let membership = try await database.query(MembershipStatements.member(account.id, of: familyID)).onlyRow()
        me.family = MyFamily(
            familyID: familyID, name: member.familyName, role: member.role, joinedAt: try membership["joined_at"])
        me.consents = try await database.query(ConsentStatements.typesInForce(for: account.id, in: familyID)).map {
            row throws(PostgresError) -> ConsentType in try row["consent_type"]
        }
        let ai = try await database.query(AIStatements.permission(account.id, in: familyID)).onlyRow()
        let points = try await database.query(GamificationStatements.record(of: account.id, in: familyID)).onlyRow()
        let statement = PreferenceStatements.current(of: account.id, in: familyID)
        let stored: StoredPreferences = try await database.query(statement).onlyRow()["prefs"]
        let preferences = stored.effective(familyZone: member.familyZone)
        me.switchedOn = SwitchedOn(
            ai: try ai["has_consent"] && ai["is_enabled"], points: try points["has_consent"] && points["is_enabled"],
            sms: preferences.channels(hasSMSConsent: me.consents.contains(.smsOptIn)).contains(.sms))
        return me
    }

    /// Changes the caller's name. Members of their family see it at once.
    func update(_ caller: Caller, _ call: Call<NoParameters, MeUpdate>) async throws -> AccountResponse {
        let name = call.body.displayName
        return try await services.writeToOwnChain(caller) { account, seq, queries in
            let row = try await queries.query(AccountStatements.profile(caller.userID)).onlyRow()
            let answer = AccountResponse(
                id: caller.userID, email: account.email, displayName: name, status: try row["status"],
                createdAt: try row["created_at"])
            if account.displayName == name { return .answer(answer) }
            let count = DailyCount(limit: .preferenceChanges, user: caller.userID)
            let act = Act(
                kind: .accountChanged, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: account.pseudonym, details: ["changed": "display_name"], stampedRows: 0,
                statements: [
                    AccountStatements.setName(of: caller.userID, name),
                    try await count.checkedIncrement(at: caller.now, queries),
                ])
            return .perform(act, answer)
        }
    }
}
