import Contract
import Domain
import NagzAI

extension Sample {
    static let constraintTerms: ConstraintTerms = {
        let template = ConstraintTemplate.all[0]
        return ConstraintTerms(
            scope: .own, name: template.name, type: template.type, isEnabled: false, priority: 7,
            conditions: template.conditions, action: template.action)
    }()
    private static let constraint = ConstraintResponse(
        id: id(40), familyID: id(2), ownerID: id(1), terms: constraintTerms, plainText: "If so, then so",
        createdBy: id(1),
        createdAt: moment, updatedAt: moment)
    private static let moves = [ConstraintMove(id: id(41), priority: 8)]
    private static let change = ConstraintChange(constraint: constraint, reordered: moves)
    private static let document = ConstraintDocument(constraints: [constraintTerms])
    private static let query = ConstraintQuery(familyID: id(2), scope: .own)
    private static let state = RuntimeState(
        local: LocalCapability(model: LocalModel(isOfSystem: true, name: "m"), intents: [.analytical]),
        network: .degraded, tokenThreshold: 300, mode: .auto, ownProviderModel: "o", gatewayModel: "g",
        isThirdPartyAllowed: true)

    /// One result with a route and one without.
    private static let simulated: [SimulationResult] = [PrivacyLevel.local, .auto].map { level in
        let question = Question(
            id: id(42), operation: .operation(.summarizeExcuse), content: "words", privacyLevel: level, askedAt: moment)
        let constraint = try? ConstraintTerms(
            scope: .own, name: "n", type: .privacy, priority: 1,
            conditions: [ConstraintCondition(field: "privacy_level", operator: "equals", value: "auto")],
            action: .block(reason: "no")
        ).constraint(id(40))
        let policy = PolicyEngine([constraint].compactMap(\.self)).evaluate(question)
        return SimulationResult(policy, Router.route(question, state, policy, at: moment, trace: id(43)))
    }

    static let aiConstraints = [
        Sample(
            API.listConstraints, ConstraintListQuery(query, page: page), NoBody(), page(constraint)),
        Sample(API.createConstraint, NoParameters(), ConstraintCreate(familyID: id(2), terms: constraintTerms), change),
        Sample(
            API.orderConstraints, NoParameters(), ConstraintOrderUpdate(ids: [id(40), id(41)]),
            ConstraintMoves(reordered: moves)),
        Sample(
            API.listConstraintTemplates, NoParameters(), NoBody(),
            ConstraintTemplates(items: ConstraintTemplate.all.map(ConstraintTemplateItem.init))),
        Sample(
            API.simulateConstraints, NoParameters(),
            ConstraintSimulation(
                familyID: id(2),
                cases: [
                    SimulatedCase(
                        question: SimulatedQuestion(
                            content: "c", tokenCount: 3, intent: .retrieval, privacyLevel: .cloud, requiresOffline: true
                        ), state: state)
                ],
                constraints: [SimulatedConstraint(id: id(40), terms: constraintTerms)]),
            SimulationAnswer(results: simulated)),
        Sample(API.exportConstraints, query, NoBody(), document),
        Sample(
            API.importConstraints, ConstraintImportQuery(familyID: id(2), isDryRun: true), document,
            ConstraintImport(isDryRun: true, imported: 1, reordered: moves)),
        Sample(API.getConstraint, ConstraintPath(constraintID: id(40)), NoBody(), constraint),
        Sample(
            API.updateConstraint, ConstraintPath(constraintID: id(40)),
            ConstraintUpdate(
                name: "n", type: .cost, isEnabled: true, priority: 999, conditions: constraintTerms.conditions,
                action: .forceLocal), change),
        Sample(API.deleteConstraint, ConstraintPath(constraintID: id(40)), NoBody(), NoAnswer()),
    ]
}
