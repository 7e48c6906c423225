import Domain

extension API {
    /// Delete an account: the caller's own, or a child's in the caller's family.
    public static let deleteAccount = Endpoint<AccountPath, NoBody, AccountResponse>(
        Operation("deleteAccount", .delete, "/api/v1/accounts/{user_id}", tag: .accounts))

    static let accountsOperations: [Operation] = [deleteAccount.operation]
}

// MARK: Parameters

/// Path parameter: one account.
public struct AccountPath: WireParameters, Hashable {
    public var userID: UserID

    public init(userID: UserID) { self.userID = userID }

    public init(_ parameters: ParameterReader) throws(InvalidInput) { userID = try parameters.path("user_id") }

    public func write(to parameters: inout ParameterWriter) { parameters.path("user_id", userID) }
}
