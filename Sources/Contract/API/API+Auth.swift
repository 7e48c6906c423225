extension API {
    /// Create an account.
    public static let signUp = Endpoint<NoParameters, SignupRequest, AuthResponse>(
        Operation("signUp", .post, "/api/v1/auth/signup", tag: .auth, status: 201, access: .open, tier: .auth))

    /// Sign in with email and password.
    public static let logIn = Endpoint<NoParameters, LoginRequest, AuthResponse>(
        Operation("logIn", .post, "/api/v1/auth/login", tag: .auth, access: .open, tier: .auth))

    /// Exchange a refresh token for a new pair of tokens.
    public static let refreshSession = Endpoint<NoParameters, RefreshRequest, AuthResponse>(
        Operation("refreshSession", .post, "/api/v1/auth/refresh", tag: .auth, access: .open))

    /// Sign a child in.
    public static let childLogIn = Endpoint<NoParameters, ChildLoginRequest, AuthResponse>(
        Operation("childLogIn", .post, "/api/v1/auth/child-login", tag: .auth, access: .open, tier: .auth))

    /// End a session.
    public static let logOut = Endpoint<NoParameters, RefreshRequest?, NoAnswer>(
        Operation("logOut", .post, "/api/v1/auth/logout", tag: .auth, status: 204, access: .open))

    /// Ask for a code that sets a new password.
    public static let requestPasswordReset = Endpoint<NoParameters, PasswordResetRequest, StatusAnswer>(
        Operation(
            "requestPasswordReset", .post, "/api/v1/auth/password-resets", tag: .auth, status: 202, access: .open,
            tier: .auth))

    /// Set a new password with a code.
    public static let resetPassword = Endpoint<NoParameters, PasswordReset, NoAnswer>(
        Operation(
            "resetPassword", .post, "/api/v1/auth/password-reset", tag: .auth, status: 204, access: .open, tier: .auth))

    static let authOperations: [Operation] = [
        signUp.operation, logIn.operation, refreshSession.operation, childLogIn.operation, logOut.operation,
        requestPasswordReset.operation, resetPassword.operation,
    ]
}
