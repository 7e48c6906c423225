import Contract

/// The program's version.
public enum NagzVersion {
    /// The version in CHANGELOG.md.
    public static let current = "0.1.0"
}

/// The group `version`: the versions of server and API, for clients to compare with their own.
enum VersionRoutes {
    static func register(in routes: RouteTable) {
        routes.constant(API.getVersion, VersionResponse(serverVersion: NagzVersion.current))
    }
}
