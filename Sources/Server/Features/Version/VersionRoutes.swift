import Contract

/// The operations of the tag `version`: the versions of server and API, for clients to compare with their own.
enum VersionRoutes {
    static func register(in routes: RouteTable) {
        routes.constant(API.getVersion, VersionResponse())
    }
}
