import Audit
import Contract
import Domain
import Postgres

extension Admins {
    /// Makes a code with which somebody who has forgotten the password of their account can set a new one. The
    /// audit log records that the code was made.
    /// - Returns: the code in groups of five letters and digits (`AccountCodes.formatted`). It is valid for half an
    ///   hour.
    /// - Throws: `Fault` if the address is invalid, or no account with a password has it.
    public static func makePasswordCode(
        databaseURL: String, keys: AuditKeyring, forAnyAccount email: String, clock: any WallClock = SystemClock()
    ) async throws -> String {
        guard let address = try? EmailAddress(wireText: email).wireText else { throw Fault.notAnEmail }
        return try await Schema.withDatabase(databaseURL) { database in
            let tool = AuditMaintenance(database, keys, clock: clock)
            let now = clock.now()
            let row = try await database.query(AccountStatements.byEmail(address, from: [], at: now)).first
            guard let person = try row.map(Person.init), let hash: String? = try row?["password_hash"], hash != nil
            else {
                throw Fault.noAccount
            }
            let code = AccountCodes.make(tool.random)
            let act = Passwords.codeCreationAct(code, for: person, by: SystemActor.commandLine, at: now)
            try await database.transaction { transaction in
                try await tool.perform(act, in: person.chain, tool.context(now), transaction)
            }
            return AccountCodes.formatted(code)
        }
    }
}
