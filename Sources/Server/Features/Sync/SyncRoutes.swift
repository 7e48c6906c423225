import Contract

/// The group `sync`: the family feed.
enum SyncRoutes {
    static func register(in routes: RouteTable, _ feed: Feed) {
        routes.written(API.syncEvents, feed.read)
    }
}
