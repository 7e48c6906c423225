import Contract
import NagzAI

/// The group `ai`: the operations of the mediator.
enum AIRoutes {
    static func register(in routes: RouteTable, _ mediator: Mediator) {
        routes.signedIn(API.summarizeExcuse) {
            try await mediator.answer(AIOperations.summarizeExcuse, $1.body.question, for: $0)
        }
        routes.signedIn(API.selectTone) {
            try await mediator.answer(AIOperations.selectTone, $1.body.question, for: $0)
        }
        routes.signedIn(API.coach) {
            try await mediator.answer(AIOperations.coaching, $1.body.question, for: $0)
        }
        routes.signedIn(API.detectPatterns) {
            try await mediator.answer(AIOperations.patterns, $1.parameters.question, for: $0)
        }
        routes.signedIn(API.generateDigest) {
            try await mediator.answer(AIOperations.digest, $1.parameters.question, for: $0)
        }
        routes.signedIn(API.predictCompletion) {
            try await mediator.answer(AIOperations.predictCompletion, $1.parameters.question, for: $0)
        }
        routes.signedIn(API.evaluatePushBack) {
            try await mediator.answer(AIOperations.pushBack, $1.body.question, for: $0)
        }
    }
}
