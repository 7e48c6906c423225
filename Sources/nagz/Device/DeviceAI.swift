import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import NagzAI

/// `nagz device ai`: shows and changes what may answer the person's questions, shows what would
/// answer now, and forgets earlier questions.
enum DeviceAI {
    static func run(_ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let action = arguments.takeNext() ?? "show"
        let (name, value) = (arguments.takeNext(), arguments.takeNext())
        try arguments.finish()
        let session = try context.requireSession()
        let family = try context.requireFamily(of: session)
        let cache = try context.openCache()
        switch (action, name, value) {
        case ("show", nil, nil): break
        case ("set", Self.patternAlertsName, let value?):
            try cache.setPatternAlerts(try AISetting.parseSwitch(value, of: Self.patternAlertsName), of: family)
        case ("set", let name?, let value?):
            try await changeSetting(AISetting.named(name), to: value, context, session, cache, family)
        case ("forget", nil, nil):
            try cache.endSession(of: family)
            if !context.asJSON { print("the questions that --session continues from were deleted") }
        default: throw Stop(.usage, "nagz device ai [show], nagz device ai forget, or nagz device ai set SETTING VALUE")
        }
        try await show(context, session, cache, family)
    }

    /// The name of the setting that exists only on this device.
    static let patternAlertsName = "pattern-alerts"

    /// Changes a setting at the server, and downloads the change.
    private static func changeSetting(
        _ setting: AISetting, to text: String, _ context: DeviceContext, _ session: DeviceSession, _ cache: EventCache,
        _ family: FamilyID
    ) async throws {
        let client = try context.makeClient(session)
        let update = PreferenceUpdate(preferences: [setting.key.rawValue: try setting.jsonValue(of: text)])
        _ = try await client.call(API.updatePreferences, FamilyQuery(familyID: family), update)
        _ = try await context.makeSyncService(client, session, cache, mode: .cursor).run(family)
        try await context.downloadProvidersIfUsed(client, cache, family)
    }

    private static func show(
        _ context: DeviceContext, _ session: DeviceSession, _ cache: EventCache, _ family: FamilyID
    ) async throws {
        let (choices, cachedFamily) = (try cache.choices(of: family), try cache.cachedFamily(family))
        let localService = try context.makeLocalService(cache, family, of: session)
        let answersOnDevice = try localService.isSwitchedOn
        let providers = try cache.providers(of: family)?.items ?? []
        var previews: [(operation: AIOperationID, text: String)] = []
        for operation in AIOperationID.allCases {
            previews.append(
                (operation, try await localService.preview(operation).displayText(isServerOn: choices.isServerEnabled)))
        }
        let networkState = try cache.networkWatch().state(at: MachineClock.currentTime())
        if context.asJSON {
            var wouldAnswer = JSONObject()
            for (operation, text) in previews { wouldAnswer[operation.rawValue] = .string(text) }
            return print(json: [
                "ai_choices": choices.jsonValue, "ai_on_device_enabled": .bool(answersOnDevice),
                "ai_mediation": cachedFamily?.allowsMediation.map { .bool($0) } ?? .null,
                "network": .string(networkState.rawValue),
                "pattern_alerts": .bool(try cache.arePatternAlertsOn(of: family)),
                "providers": .array(providers.map(\.jsonValue)), "would_answer": .object(wouldAnswer),
            ])
        }
        for setting in AISetting.allCases {
            let value = setting.valueText(in: choices, answersOnDevice: answersOnDevice)
            print(setting.rawValue.padded(to: 16), value.padded(to: 16), setting.meaning(choices), separator: " ")
        }
        let alerts = try cache.arePatternAlertsOn(of: family) ? "on" : "off"
        print(
            Self.patternAlertsName.padded(to: 16), alerts.padded(to: 16),
            "whether a sync reports weekdays on which you missed three nags or more", separator: " ")
        let consent =
            cachedFamily?.allowsMediation.map { $0 ? "given" : "withdrawn: no answers" }
            ?? "unknown: run nagz device sync"
        print("consent          ai_mediation is \(consent)")
        print("network          \(networkState.rawValue), by the latest attempts to reach the server")
        for provider in providers where provider.model != nil {
            let state = provider.isActive ? "in use" : provider.reason ?? "not in use"
            print("provider         \(provider.name) (\(provider.model ?? "")): \(state)")
        }
        print("What would answer now")
        for (operation, text) in previews { print("  \(operation.rawValue.padded(to: 18)) \(text)") }
    }
}

/// A setting of `nagz device ai`.
enum AISetting: String, CaseIterable {
    /// Whether rules, models or nothing may answer: an `AIMode`.
    case mode
    /// Where questions may be answered: a `PrivacyLevel`.
    case privacyLevel = "privacy"
    /// Whether this device answers.
    case answersOnDevice = "on-device"
    /// Whether the server answers.
    case answersOnServer = "server"
    /// The model that writes in the mode `auto`.
    case localModel = "local-model"
    /// The model that is asked with the person's own key.
    case cloudModel = "cloud-model"
    /// The number of tokens above which a question to the coach goes to the server.
    case tokenThreshold = "token-threshold"
    /// The days for which the history of the person's questions is stored.
    case historyRetentionDays = "retention-days"
    /// Whether the history has only questions that got no answer.
    case historyErrorsOnly = "errors-only"

    static func named(_ name: String) throws -> AISetting {
        guard let setting = AISetting(rawValue: name) else {
            let names = allCases.map(\.rawValue) + [DeviceAI.patternAlertsName]
            throw Stop(.usage, "the settings are \(names.joined(separator: ", "))")
        }
        return setting
    }

    var key: PreferenceKey {
        switch self {
        case .mode: .aiMode
        case .privacyLevel: .aiPrivacyLevel
        case .answersOnDevice: .aiOnDeviceEnabled
        case .answersOnServer: .aiServerEnabled
        case .localModel: .aiLocalModel
        case .cloudModel: .aiCloudModel
        case .tokenThreshold: .aiTokenThreshold
        case .historyRetentionDays: .aiLogRetentionDays
        case .historyErrorsOnly: .aiLogErrorsOnly
        }
    }

    /// Returns the JSON value to send for the text, which the server checks. For a model, `none` removes the person's
    /// choice.
    func jsonValue(of text: String) throws -> JSONValue {
        switch self {
        case .mode, .privacyLevel: return .string(text)
        case .localModel, .cloudModel: return text == "none" ? .null : .string(text)
        case .answersOnDevice, .answersOnServer, .historyErrorsOnly:
            return .bool(try Self.parseSwitch(text, of: rawValue))
        case .tokenThreshold, .historyRetentionDays:
            guard let number = Int64(text) else { throw Stop(.usage, "\(rawValue) takes a whole number") }
            return .integer(number)
        }
    }

    /// Returns whether a setting's text is `on`; throws unless it is `on` or `off`.
    static func parseSwitch(_ text: String, of setting: String) throws -> Bool {
        guard let isOn = ["on": true, "off": false][text] else { throw Stop(.usage, "\(setting) takes on or off") }
        return isOn
    }

    /// Returns the setting's value, as `nagz device ai` prints it.
    func valueText(in choices: AIChoices, answersOnDevice: Bool) -> String {
        switch self {
        case .mode: choices.mode.rawValue
        case .privacyLevel: choices.privacyLevel.rawValue
        case .answersOnDevice: answersOnDevice ? "on" : "off"
        case .answersOnServer: choices.isServerEnabled ? "on" : "off"
        case .localModel: choices.localModel ?? "none"
        case .cloudModel: choices.cloudModel ?? "none"
        case .tokenThreshold: "\(choices.tokenThreshold)"
        case .historyRetentionDays: "\(choices.logRetentionDays)"
        case .historyErrorsOnly: choices.logsErrorsOnly ? "on" : "off"
        }
    }

    /// Returns the meaning of the setting, for people.
    func meaning(_ choices: AIChoices) -> String {
        switch self {
        case .mode: choices.mode.meaning
        case .privacyLevel:
            switch choices.privacyLevel {
            case .local: "questions stay on this device"
            case .cloud: "questions go to the server"
            case .auto: "questions are answered here where this device can, else at the server"
            }
        case .answersOnDevice: "whether this device answers; if off, only the server does"
        case .answersOnServer: "whether the server answers; if off, only this device does"
        case .localModel: "foundation_models, local_model or the server's model: the one that writes in the mode auto"
        case .cloudModel: "which of your own keys' models is asked"
        case .tokenThreshold: "questions to the coach with more tokens go to the server; an excuse's words stay here"
        case .historyRetentionDays: "days for which the history of your questions is stored, 7 to 365"
        case .historyErrorsOnly: "whether the history has only questions that got no answer"
        }
    }
}

extension AIMode {
    /// The meaning of the mode, for people.
    fileprivate var meaning: String {
        switch self {
        case .heuristic: "fixed rules answer, and no language model"
        case .auto: "a model writes where there is one: this device's, your own, or the server's; else the rules"
        case .onDeviceOnly: "only the operating system's model answers"
        case .localOnly: "only this device answers: its gateway's model, else the rules"
        case .byoOnly: "only the model of your own key answers"
        case .off: "nothing answers, here or at the server"
        }
    }
}

extension Result where Success == RoutingDecision, Failure == RoutingFailure {
    /// Returns the provider that would answer, and its place, or the reason why none would.
    fileprivate func displayText(isServerOn: Bool) -> String {
        switch self {
        case .success(let decision) where decision.route == .cloud && !isServerOn:
            return "none: the server's AI is off"
        case .success(let decision):
            let place = decision.route == .local ? "this device" : "the server"
            return "\(decision.provider.displayText)\(decision.model.map { " (\($0))" } ?? ""), at \(place)"
        case .failure(let failure): return "none: \(failure.code.map { "\($0.rawValue), " } ?? "")\(failure.text)"
        }
    }
}
