import Contract

/// The group `auth`: sign-up, sign-in, refresh and sign-out.
enum AuthRoutes {
    static func register(in routes: RouteTable, _ sessions: Sessions) {
        routes.open(API.signUp, sessions.signUp)
        routes.open(API.logIn, sessions.logIn)
        routes.open(API.childLogIn, sessions.childLogIn)
        routes.open(API.refreshSession, sessions.refresh)
        routes.openOrSignedIn(API.logOut, sessions.logOut)
    }
}
