import Contract

/// The group `consents`: what people have agreed to.
enum ConsentsRoutes {
    static func register(in routes: RouteTable, _ consents: Consents) {
        routes.signedIn(API.listConsents, consents.list)
        routes.signedIn(API.grantConsent, consents.grant)
        routes.signedIn(API.updateConsent, consents.update)
    }
}
