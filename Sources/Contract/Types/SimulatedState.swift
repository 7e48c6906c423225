import Domain
import JSON
import NagzAI

// The state of the router in a simulation. The defaults are those of a device that is online and has no model.

extension LocalModel: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            isOfSystem: try fields.defaulted("of_system", to: false),
            name: try fields.text("name", 1...SimulatedCase.maxModelNameLength))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("of_system", isOfSystem)
            json.field("name", name)
        }
    }
}

extension LocalCapability: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        let intents: [QuestionIntent] = try fields.defaulted("intents", to: QuestionIntent.allCases)
        self.init(
            model: try fields.optional("model"),
            maxQuestionTokens: try fields.optionalInteger("max_tokens", ConstraintLimit.tokenCounts) ?? 4_096,
            intents: Set(intents), isAvailable: try fields.defaulted("available", to: true))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("model", model)
            json.field("max_tokens", maxQuestionTokens)
            json.field("intents", QuestionIntent.allCases.filter(intents.contains))
            json.field("available", isAvailable)
        }
    }
}

extension RuntimeState: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        let nameLengths = 1...SimulatedCase.maxModelNameLength
        self.init(
            local: try fields.defaulted("local", to: LocalCapability()),
            network: try fields.defaulted("network", to: .online),
            tokenThreshold: try fields.optionalInteger("token_threshold", ConstraintLimit.tokenCounts) ?? 4_096,
            mode: try fields.defaulted("mode", to: .heuristic),
            ownProviderModel: try fields.optionalText("byo_model", nameLengths),
            gatewayModel: try fields.optionalText("gateway_model", nameLengths),
            isThirdPartyAllowed: try fields.defaulted("third_party_allowed", to: false))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("local", local)
            json.field("network", network)
            json.field("token_threshold", tokenThreshold)
            json.field("mode", mode)
            json.field("byo_model", ownProviderModel)
            json.field("gateway_model", gatewayModel)
            json.field("third_party_allowed", isThirdPartyAllowed)
        }
    }
}
