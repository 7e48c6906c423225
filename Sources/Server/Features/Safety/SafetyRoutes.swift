import Contract

/// The group `safety`: blocks between people, and suspended relationships.
enum SafetyRoutes {
    static func register(in routes: RouteTable, _ safety: Safety) {
        routes.signedIn(API.listBlocks, safety.blocks)
        routes.signedIn(API.createBlock, safety.block)
        routes.signedIn(API.updateBlock, safety.updateBlock)
        routes.signedIn(API.suspendRelationship, safety.suspend)
    }
}
