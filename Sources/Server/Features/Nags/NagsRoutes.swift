import Contract

/// The group `nags`.
enum NagsRoutes {
    static func register(in routes: RouteTable, _ nags: Nags) {
        routes.signedIn(API.createNag, nags.create)
        routes.signedIn(API.listNags, nags.list)
        routes.signedIn(API.getNag, nags.get)
        routes.signedIn(API.updateNag, nags.update)
        routes.signedIn(API.withdrawNag, nags.withdraw)
        routes.signedIn(API.dismissNag, nags.dismiss)
        routes.signedIn(API.undismissNag, nags.undismiss)
        routes.signedIn(API.updateNagStatus, nags.updateStatus)
        routes.signedIn(API.submitExcuse, nags.submitExcuse)
        routes.signedIn(API.listExcuses, nags.listExcuses)
    }
}
