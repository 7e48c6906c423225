extension API {
    /// Get the versions of server and API.
    public static let getVersion = Endpoint<NoParameters, NoBody, VersionResponse>(
        Operation("getVersion", .get, "/api/v1/version", tag: .version, access: .open))

    static let versionOperations: [Operation] = [
        getVersion.operation
    ]
}
