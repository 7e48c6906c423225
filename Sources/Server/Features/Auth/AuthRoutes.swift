import Contract

/// The group `auth`: accounts are opened, sessions begin, go on and end.
enum AuthRoutes {
    static func register(in routes: RouteTable, _ sessions: Sessions) {
        routes.open(API.signUp, sessions.signUp)
        routes.open(API.logIn, sessions.logIn)
        routes.open(API.childLogIn, sessions.childLogIn)
        routes.open(API.refreshSession, sessions.refresh)
        routes.openOrSignedIn(API.logOut, sessions.logOut)
    }
}
