import Domain
import NagzAI

/// The dialog in which constraints warn the person at the device, and ask them for confirmations.
public struct ConstraintDialog {
    /// The person's decision about a prompt.
    public enum Confirmation: Sendable { case given, declined, nobodyToAsk }

    let warn: (String) -> Void
    let confirm: (String) -> Confirmation

    /// - Parameters:
    ///   - warn: shows the message of a warning.
    ///   - confirm: shows the prompts of all constraints that require a confirmation, and returns the decision.
    public init(warn: @escaping (String) -> Void, confirm: @escaping (String) -> Confirmation) {
        self.warn = warn
        self.confirm = confirm
    }

    /// Shows a prompt, and returns the decision.
    public func askForConfirmation(of prompt: String) -> Confirmation { confirm(prompt) }

    /// A dialog without a person: it shows no warnings, and no prompt can be confirmed.
    public static var silent: ConstraintDialog { ConstraintDialog(warn: { _ in }, confirm: { _ in .nobodyToAsk }) }
}

/// A reason why a question is not answered, by this device or the server.
public enum QuestionRefusal: Error, Hashable, Sendable {
    /// A constraint blocks the question, the person's choices allow no answer, or the server cannot be reached and
    /// nothing else may answer.
    case noRoute(RoutingFailure)
    /// A constraint requires a confirmation, and no person can be asked.
    case unconfirmed(prompt: String)
    /// The person did not confirm.
    case declined
}

/// Routes each question before it is answered, by the constraints on this device and the person's choices of the
/// latest sync.
struct QuestionRouting {
    let cache: EventCache
    let family: FamilyID
    let dialog: ConstraintDialog
    let log: ExecutionLog

    /// Decides where a question is answered. It shows warnings, and asks for a confirmation if a constraint requires
    /// one.
    /// - Parameters:
    ///   - requiresOffline: whether the question must not leave the device.
    ///   - canDeviceAnswer: whether the device can answer, as far as is known before its facts are read.
    ///   - selection: the model on this device that may write the answer.
    /// - Throws: `QuestionRefusal`, after recording it in the log; `SQLiteError`.
    func decide(
        _ operation: AIOperationID, _ content: String, _ nag: NagID?, _ choices: AIChoices, requiresOffline: Bool,
        canDeviceAnswer: Bool, _ selection: LocalModels.Selection, at now: Timestamp
    ) throws -> RoutedQuestion {
        let startedAt = log.stopwatch()
        let constraints = try cache.constraints(of: family)
        let question = Question(
            id: log.makeIdentifier(), operation: .operation(operation), content: content,
            privacyLevel: choices.privacyLevel, requiresOffline: requiresOffline, askedAt: now)
        let state = try state(choices, canDeviceAnswer: canDeviceAnswer, selection, at: now)
        let policy = PolicyEngine(constraints).evaluate(question)
        let trace: TraceID = log.makeIdentifier()
        let route = Router.route(question, state, policy, at: now, trace: trace)
        let decision = try? route.get()
        var routed = RoutedQuestion(
            question: question, choices: choices, nag: nag, family: family, trace: trace, startedAt: startedAt,
            routedAt: log.stopwatch(), policy: policy, routingResult: route,
            writer: decision?.provider == selection.writer?.provider.name ? selection.writer : nil,
            isTaskUnsupported: selection.isTaskUnsupported && decision?.route == .local)
        do throws(QuestionRefusal) {
            switch routed.routingResult {
            case .success(let decision):
                decision.warnings.forEach(dialog.warn)
                guard let prompt = policy.confirmationPrompt else { return routed }
                routed.confirmationStatus = .no
                try confirm(prompt)
                routed.confirmationStatus = .yes
                return routed
            case .failure(let failure):
                policy.warnings.forEach(dialog.warn)
                throw .noRoute(failure)
            }
        } catch {
            if case .unconfirmed = error { routed.confirmationStatus = .none }
            log.store(routed.record(refusedWith: error.code, log))
            throw error
        }
    }

    /// Returns the route that a question without a person's words would have, as far as is known before its facts are
    /// read. It asks for no confirmation.
    func preview(
        _ operation: AIOperationID, _ choices: AIChoices, canDeviceAnswer: Bool, _ selection: LocalModels.Selection,
        at now: Timestamp
    ) throws -> Result<RoutingDecision, RoutingFailure> {
        let question = Question(
            id: QuestionID(high: 0, low: 0), operation: .operation(operation), content: "",
            privacyLevel: choices.privacyLevel, requiresOffline: operation == .summarizeExcuse && canDeviceAnswer,
            askedAt: now)
        let policy = PolicyEngine(try cache.constraints(of: family)).evaluate(question)
        let state = try state(choices, canDeviceAnswer: canDeviceAnswer, selection, at: now)
        return Router.route(question, state, policy, at: now, trace: TraceID(high: 0, low: 0))
    }

    /// Returns the state for the router: this device, the network, the server's providers and the person's choices.
    private func state(
        _ choices: AIChoices, canDeviceAnswer: Bool, _ selection: LocalModels.Selection, at now: Timestamp
    ) throws -> RuntimeState {
        var state = RuntimeState(
            local: LocalCapability(model: selection.model, isAvailable: canDeviceAnswer),
            network: try cache.networkWatch().state(at: now), tokenThreshold: choices.tokenThreshold,
            mode: choices.mode)
        if let providers = try cache.providers(of: family) {
            (state.gatewayModel, state.ownProviderModel) = (providers.gatewayModel, providers.ownModel)
            state.isThirdPartyAllowed = providers.allowsThirdParties
        }
        if let notice = selection.notice { state.notices.append(notice) }
        return state
    }

    private func confirm(_ prompt: String) throws(QuestionRefusal) {
        switch dialog.confirm(prompt) {
        case .given: return
        case .declined: throw .declined
        case .nobodyToAsk: throw .unconfirmed(prompt: prompt)
        }
    }
}
