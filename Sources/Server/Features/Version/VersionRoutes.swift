import Contract

/// The program's version.
public enum NagzVersion {
    /// As CHANGELOG.md counts it.
    public static let current = "0.1.0"
}

/// The group `version`: what server and API are, so that clients can tell whether they fit.
enum VersionRoutes {
    static func register(in routes: RouteTable) {
        routes.constant(API.getVersion, VersionResponse(serverVersion: NagzVersion.current))
    }
}
