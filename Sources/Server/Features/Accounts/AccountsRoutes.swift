import Contract

/// The group `accounts`: accounts as a whole.
enum AccountsRoutes {
    static func register(in routes: RouteTable, _ accounts: Accounts) {
        routes.signedIn(API.deleteAccount, accounts.delete)
    }
}
