import Contract

/// The group `ai`: the seven operations of the mediator.
enum AIRoutes {
    static func register(in routes: RouteTable, _ mediator: Mediator) {
        routes.signedIn(API.summarizeExcuse, mediator.summarizeExcuse)
        routes.signedIn(API.selectTone, mediator.selectTone)
        routes.signedIn(API.coach, mediator.coach)
        routes.signedIn(API.detectPatterns, mediator.detectPatterns)
        routes.signedIn(API.generateDigest, mediator.generateDigest)
        routes.signedIn(API.predictCompletion, mediator.predictCompletion)
        routes.signedIn(API.evaluatePushBack, mediator.evaluatePushBack)
    }
}
