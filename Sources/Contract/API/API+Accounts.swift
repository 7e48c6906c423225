import Domain

extension API {
    /// Delete an account: the caller's own, or a child's in the caller's family.
    public static let deleteAccount = Endpoint<AccountPath, NoBody, AccountResponse>(
        Operation("deleteAccount", .delete, "/api/v1/accounts/{user_id}", tag: .accounts))

    /// Answer the caller's account, after filling what is empty in it.
    public static let createAccount = Endpoint<NoParameters, AccountCreate, AccountResponse>(
        Operation("createAccount", .post, "/api/v1/accounts", tag: .accounts, status: 201))

    /// Everything that belongs to the caller's account.
    public static let exportAccount = Endpoint<NoParameters, NoBody, AccountExport>(
        Operation("exportAccount", .get, "/api/v1/accounts/export", tag: .accounts))

    /// Read the caller's account, their family, and what is switched on for them.
    public static let getMe = Endpoint<NoParameters, NoBody, MeResponse>(
        Operation("getMe", .get, "/api/v1/me", tag: .accounts))

    /// Change the caller's name.
    public static let updateMe = Endpoint<NoParameters, MeUpdate, AccountResponse>(
        Operation("updateMe", .patch, "/api/v1/me", tag: .accounts))

    /// Change the caller's password.
    public static let changePassword = Endpoint<NoParameters, PasswordChange, NoAnswer>(
        Operation("changePassword", .post, "/api/v1/me/password", tag: .accounts, status: 204, tier: .auth))

    /// Ask for another email address.
    public static let requestEmailChange = Endpoint<NoParameters, EmailChangeRequest, StatusAnswer>(
        Operation("requestEmailChange", .post, "/api/v1/me/email", tag: .accounts, status: 202, tier: .auth))

    /// Confirm the new email address with the code that was sent to it.
    public static let confirmEmailChange = Endpoint<NoParameters, EmailChangeConfirmation, AccountResponse>(
        Operation("confirmEmailChange", .post, "/api/v1/me/email/confirmation", tag: .accounts, tier: .auth))

    /// Ask for a telephone number that text messages go to.
    public static let requestPhone = Endpoint<NoParameters, PhoneRequest, StatusAnswer>(
        Operation("requestPhone", .post, "/api/v1/me/phone", tag: .accounts, status: 202, tier: .auth))

    /// Confirm the telephone number with the code that was sent to it.
    public static let confirmPhone = Endpoint<NoParameters, PhoneConfirmation, MeResponse>(
        Operation("confirmPhone", .post, "/api/v1/me/phone/confirmation", tag: .accounts, tier: .auth))

    /// Delete the caller's telephone number.
    public static let deletePhone = Endpoint<NoParameters, NoBody, NoAnswer>(
        Operation("deletePhone", .delete, "/api/v1/me/phone", tag: .accounts, status: 204))

    /// List the caller's open sessions.
    public static let listSessions = Endpoint<PageRequest, NoBody, Page<SessionResponse>>(
        Operation("listSessions", .get, "/api/v1/me/sessions", tag: .accounts))

    /// End one of the caller's sessions.
    public static let endSession = Endpoint<SessionPath, NoBody, NoAnswer>(
        Operation("endSession", .delete, "/api/v1/me/sessions/{session_id}", tag: .accounts, status: 204))

    /// End all of the caller's sessions but the one of the request.
    public static let endOtherSessions = Endpoint<NoParameters, NoBody, NoAnswer>(
        Operation("endOtherSessions", .delete, "/api/v1/me/sessions", tag: .accounts, status: 204))

    static let accountsOperations: [Operation] = [
        deleteAccount.operation, createAccount.operation, exportAccount.operation, getMe.operation,
        updateMe.operation, changePassword.operation, requestEmailChange.operation, confirmEmailChange.operation,
        requestPhone.operation, confirmPhone.operation, deletePhone.operation,
        listSessions.operation, endSession.operation, endOtherSessions.operation,
    ]
}

// MARK: Parameters

/// Path parameter: one account.
public struct AccountPath: WireParameters, Hashable {
    public var userID: UserID

    public init(userID: UserID) { self.userID = userID }

    public init(_ parameters: ParameterReader) throws(InvalidInput) { userID = try parameters.path("user_id") }

    public func write(to parameters: inout ParameterWriter) { parameters.path("user_id", userID) }
}

/// Path parameter: one session.
public struct SessionPath: WireParameters, Hashable {
    public var sessionID: SessionID

    public init(sessionID: SessionID) { self.sessionID = sessionID }

    public init(_ parameters: ParameterReader) throws(InvalidInput) { sessionID = try parameters.path("session_id") }

    public func write(to parameters: inout ParameterWriter) { parameters.path("session_id", sessionID) }
}
