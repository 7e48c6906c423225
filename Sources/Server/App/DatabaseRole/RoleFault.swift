/// A reason for which `nagz serve` or `nagz migrate` cannot work with a database's roles. Each description says what to
/// do.
public enum RoleFault: Error, Hashable, CustomStringConvertible {
    case superuser(login: String)
    case ownsObject(login: String, object: String)
    case hasAttributes(login: String, attributes: String)
    case canBecomeRoles(login: String, roles: String)
    case canGrantRoles(login: String, roles: String)
    case canSetParameters(login: String, parameters: String)
    case notMember(login: String)
    /// The login or the role `nagz_server` lacks the named privilege on a table.
    case missingPrivileges(String)
    /// The login has the named privileges on a table, which no migration grants.
    case surplusPrivileges(login: String, privileges: String)
    /// The login or the role `nagz_server` has the named privileges to create something, from PUBLIC or granted
    /// to one of them.
    case canCreateObjects(String)
    /// The role `nagz_server` is missing, and the login of `nagz migrate` may not create it.
    case roleNotCreated

    private static let loginAdvice =
        "give nagz serve a login of its own: CREATE ROLE nagz_serve LOGIN PASSWORD '…' IN ROLE nagz_server"

    public var description: String {
        switch self {
        case .superuser(let login): "the server may not sign in as “\(login)”, a superuser: \(Self.loginAdvice)"
        case .ownsObject(let login, let thing):
            "the server may not sign in as “\(login)”, which owns “\(thing)”: \(Self.loginAdvice)"
        case .hasAttributes(let login, let attributes):
            "the server may not sign in as “\(login)”, which has \(attributes): \(Self.loginAdvice)"
        case .canBecomeRoles(let login, let roles):
            "the server may not sign in as “\(login)”, which can become \(roles): \(Self.loginAdvice)"
        case .canGrantRoles(let login, let roles):
            "the server may not sign in as “\(login)”, which may grant \(roles): \(Self.loginAdvice)"
        case .canSetParameters(let login, let names):
            "the server may not sign in as “\(login)”, which may set \(names): \(Self.loginAdvice)"
        case .notMember(let login):
            "“\(login)” is not a member of nagz_server: run nagz migrate, then GRANT nagz_server TO \"\(login)\""
        case .missingPrivileges(let what): "the role nagz_server lacks \(what): run nagz migrate as the schema's owner"
        case .surplusPrivileges(let login, let what):
            "the login “\(login)” may do more than the migrations grant: revoke \(what)"
        case .canCreateObjects(let what):
            "the server's login has \(what): run nagz migrate, or as the database's owner REVOKE it FROM PUBLIC, "
                + "nagz_server and the login"
        case .roleNotCreated:
            "the role nagz_server is missing and this login may not create it: as a superuser, run "
                + "CREATE ROLE nagz_server; GRANT nagz_server TO the schema's owner"
        }
    }
}
