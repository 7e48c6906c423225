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

    static let accountsOperations: [Operation] = [
        deleteAccount.operation, createAccount.operation, exportAccount.operation,
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
