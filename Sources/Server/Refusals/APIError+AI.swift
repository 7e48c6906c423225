import Contract
import Domain
import NagzAI

/// The refusals about questions to the AI, its constraints and keys. `ExecutionReason` contains the reasons for which a
/// question is not answered.
extension APIError {
    // MARK: Conditions

    static let aiConsentIsMissing = APIError(
        .authorizationDenied, "This needs the consent to AI mediation. Grant it in the family's consents.",
        reason: ErrorReason.consentMissing)
    static let aiIsOff = APIError(
        .authorizationDenied, "The AI on the server is off in your preferences. Switch it on there.",
        reason: ErrorReason.switchedOff)
    /// - Parameters:
    ///   - key: the preference that names the model.
    ///   - fault: the permitted values, such as "must be one of" and the names.
    static func modelIsUnknown(_ key: PreferenceKey, _ fault: String) -> APIError {
        APIError(InvalidInput(fault, field: "prefs_json.\(key.rawValue)"))
    }

    // MARK: Questions

    static let noSuchExecution = APIError(.notFound, "There is no such execution.")
    static let noSuchAISession = APIError(.notFound, "There is no such AI session.")
    static func questionLacks(_ field: String) -> APIError {
        APIError(InvalidInput("is required for this operation", field: field))
    }
    static func questionIsTooLong(_ limit: Int) -> APIError {
        APIError(.validationFailed, "A question has at most \(limit) characters.", field: "text")
    }
    static let noSuchConfirmation = APIError(
        .notFound, "There is no such confirmation, or it was used before or is too old. Ask again.")
    static let confirmationIsAcceptedByAsking = APIError(
        .validationFailed, "To accept, ask again with the confirmation.", field: "accept")

    // MARK: Constraints

    static let noSuchConstraint = APIError(.notFound, "There is no such constraint.")
    /// - Parameter path: the path of the constraint with a dot at its end, such as `constraints[3].`; empty where the
    ///   constraint is the body.
    static func constraintIsInvalid(_ fault: ConstraintFault, path: String) -> APIError {
        APIError(InvalidInput(fault.message, field: path + fault.field))
    }
    static func constraintsHaveTooManyTexts(path: String) -> APIError {
        APIError(
            .validationFailed,
            "All constraints of a scope together look for at most \(ConstraintLimit.maxSearchTextsPerScope) texts.",
            field: "\(path)conditions")
    }
    static let constraintsAreOfTwoScopes = APIError(
        .validationFailed, "Only constraints of one scope can be put in order together.", field: "ids")
    static let simulationHasTooManyTexts = APIError(
        .validationFailed, "The constraints of a simulation look for at most \(SimulationLimit.maxTexts) texts.",
        field: "constraints")
    static func simulationIsTooCostly(case index: Int) -> APIError {
        APIError(InvalidInput("is too long for so many constraints", field: "cases[\(index)].question.content"))
    }
    static let simulationIsTooLong = APIError(
        .validationFailed,
        "The answer to so many cases has more than \(SimulationLimit.maxAnswerBytes >> 20) MB. Send fewer.",
        field: "cases")

    // MARK: Keys

    static let noSuchProviderKey = APIError(.notFound, "You have stored no key for this provider.")
    static let providerKeyIsUnreadable = APIError(
        .conflict, "The server cannot open this key any more. Store it again.")
    static let keyringIsMissing = APIError(
        .unavailable, "This server stores no keys, because it has no audit keyring to seal them with.")
    static let onlyCustomProvidersHaveEndpoints = APIError(
        .validationFailed, "Only a custom provider has an endpoint. Leave the endpoint out.", field: "endpoint")
    static let customProviderNeedsEndpoint = APIError(
        .validationFailed, "A custom provider needs the https URL of its service.", field: "endpoint")
    static let endpointIsNotPublic = APIError(
        .validationFailed, "This endpoint is not an address of the public internet.", field: "endpoint")
}
