import Contract
import Domain
import NagzAI

/// A reason for which a question was not answered: a code and a message for the person. An `ExecutionRefusal` adds the
/// router's decision.
struct ExecutionReason {
    let code: ExecutionCode
    let message: String

    init(_ code: ExecutionCode, _ message: String) {
        self.code = code
        self.message = message
    }

    static let taskIsUnknown = ExecutionReason(
        .taskUnknown,
        "Say what is to answer, as the type of the task: one of \(TaskType.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    static let taskIsUnavailable = ExecutionReason(
        .taskUnavailable, "This operation has no answer of that type of task.")
    static let onlyOwnProvidersAnswer = ExecutionReason(
        .taskUnavailable, "Your preferences let your own provider alone answer. Ask for a cloud model.")
    static let questionIsLocal = ExecutionReason(
        .localQuestion, "This question is to stay on the device, and the server does not answer it.")
    static let constraintKeepsQuestionOnDevice = ExecutionReason(
        .blocked, "A constraint keeps this question from leaving the device.")
    static let thirdPartyIsForbidden = ExecutionReason(.blocked, RoutingFailure.thirdPartyForbidden.text)
    static func ruleIsImplausible(_ rule: RoutingRule) -> ExecutionReason {
        ExecutionReason(
            .claimImplausible, "\(rule.rawValue) does not send this question to the server. Leave the rule out.")
    }
    /// - Parameter notice: the reason for which there is no model; nil if the person's mode excludes it.
    static func noCloudModel(_ notice: String?) -> ExecutionReason {
        ExecutionReason(.cloudNotConfigured, notice ?? "Your AI mode uses no model of your own keys.")
    }
    /// - Parameter notice: the reason for which there is no model; nil if there is no particular one.
    static func noLocalModel(_ notice: String?) -> ExecutionReason {
        ExecutionReason(.localUnavailable, notice ?? "There is no model that could answer.")
    }
    static let aiSessionHasEnded = ExecutionReason(.sessionEnded, "This AI session is over. Begin another one.")
    static let confirmationIsInvalid = ExecutionReason(
        .confirmationInvalid,
        "This confirmation is of another question, was used before, or came too late. Ask again.")
    static let questionIDWasUsed = ExecutionReason(
        .questionReused, "This question ID was used with other words or settings. Ask with an ID of its own.")
    /// The model gave no usable answer, and the rules may not answer in its place.
    static func modelHasNotAnswered(_ code: ExecutionCode) -> ExecutionReason {
        ExecutionReason(code, "The model could not answer. Try again, or ask without it.")
    }
    /// The model could not read the words that a draft is to be made of, and the rules may not read them in its place.
    static func modelHasNotRead(_ code: ExecutionCode) -> ExecutionReason {
        ExecutionReason(code, "The model could not read the words. Try again, or ask without it.")
    }
}
