import Domain
import HTTPClient
import JSON
import NagzAI

/// A model that is asked over HTTP. It is used on one event loop.
///
/// A question is sent once, whatever the result. There is one exception: if the model refuses the temperature or the
/// field of the token limit, there was no answer, so the question is sent once more in a form that the model accepts.
/// `ProviderHealth` remembers this form. A provider that names a time to wait gets no question during it, at most for
/// a day. A provider with three faults within a minute gets no question for 30 seconds. Faults are distinguished by the
/// status of a response, because the bodies of errors differ between services.
public final class HTTPModelProvider: ModelProvider {
    public let name: ProviderName
    public let reach: Reach
    public let capabilities: ProviderCapabilities

    private let endpoint: ModelEndpoint
    private let modelProtocol: any ModelProtocol
    /// The name of the model, as configured.
    package let model: String
    private let key: ModelKey?
    /// The time limits. Tests on a busy machine change them.
    package var limits: ModelLimits
    private let now: () -> ContinuousClock.Instant
    private let health: ProviderHealth

    /// The time for which the result of a check of availability is cached.
    private static let availabilityLifetime = Duration.seconds(10)

    init(
        _ name: ProviderName, _ reach: Reach, _ capabilities: ProviderCapabilities, at endpoint: ModelEndpoint,
        modelProtocol: any ModelProtocol, model: String, key: ModelKey?, health: ProviderHealth,
        now: @escaping () -> ContinuousClock.Instant
    ) {
        (self.name, self.reach, self.capabilities, self.endpoint) = (name, reach, capabilities, endpoint)
        (self.modelProtocol, self.model, self.key, self.health, self.now) = (modelProtocol, model, key, health, now)
        limits = endpoint.limits
    }

    /// Creates the provider of a service with OpenAI's protocol: a gateway on this machine, OpenAI itself, or another
    /// one.
    /// - Parameter now: returns the time of a monotonic clock.
    public static func openAICompatible(
        _ name: ProviderName, _ reach: Reach, _ capabilities: ProviderCapabilities, at endpoint: ModelEndpoint,
        model: String, key: ModelKey? = nil, schemaStyle: SchemaStyle = .jsonSchema,
        tokensField: TokensField = .maxTokens, health: ProviderHealth = ProviderHealth(),
        now: @escaping () -> ContinuousClock.Instant = { .now }
    ) -> HTTPModelProvider {
        HTTPModelProvider(
            name, reach, capabilities, at: endpoint,
            modelProtocol: OpenAIProtocol(schemaStyle: schemaStyle, tokensField: tokensField), model: model, key: key,
            health: health, now: now)
    }

    /// Creates the provider of a service with Anthropic's protocol, called with a person's own key.
    /// - Parameter now: returns the time of a monotonic clock.
    public static func anthropic(
        at endpoint: ModelEndpoint, model: String, key: ModelKey, health: ProviderHealth = ProviderHealth(),
        now: @escaping () -> ContinuousClock.Instant = { .now }
    ) -> HTTPModelProvider {
        HTTPModelProvider(
            .ownProvider, .thirdParty, .thirdParty, at: endpoint, modelProtocol: AnthropicProtocol(), model: model,
            key: key, health: health, now: now)
    }

    public func generate(_ request: ModelRequest) async throws(ModelFault) -> ModelResult {
        let startedAt = now()
        if let seconds = health.remainingLimitSeconds(at: startedAt) { throw .limited(seconds: seconds) }
        let body = modelProtocol.body(request, model: model, health.habits(of: model))
        guard body.count <= ModelLimits.maxRequestBytes else { throw .tooLong }
        let availability = await availability()
        guard !Task.isCancelled else { throw .cancelled }
        if case .unavailable(let reason) = availability { throw .unavailable(reason) }
        var response = try await ask(request, since: startedAt)
        if learnHabits(from: response) {
            response = try await ask(request, since: startedAt)
            // The second refusal may show another field, which the next question then omits.
            _ = learnHabits(from: response)
        }
        try requireSuccess(response)
        let answer = try parseAnswer(response)
        let text = trimmed(answer.text)
        guard !text.isEmpty else { throw .unreadable }
        let latency = now() - startedAt
        health.recordLatency(latency)
        return ModelResult(
            text: text, provider: name, model: model, latency: latency, tokenCount: answer.tokenCount,
            structuredFields: try request.schema.map { schema throws(ModelFault) in try Self.fields(of: text, schema) })
    }

    /// Returns whether a question can be sent: the provider is neither limited nor paused, and its list of models has
    /// the configured one. The list is cached for ten seconds. It is checked because some runtimes answer requests for
    /// models that they do not have. A service without a list counts as available.
    public func availability() async -> Availability {
        let askedAt = now()
        guard health.remainingLimitSeconds(at: askedAt) == nil else { return .unavailable(.limited) }
        guard !health.isPaused(at: askedAt) else { return .unavailable(.paused) }
        if let latestCheck = health.latestCheck, askedAt - latestCheck.checkedAt < Self.availabilityLifetime {
            return latestCheck.availability
        }
        let availability: Availability
        do throws(ModelFault) {
            let response = try await send(
                "GET", modelProtocol.modelsPath, modelProtocol.headers(key), nil,
                min(limits.listTimeout, limits.questionTimeout))
            availability = try listsModel(response) ? .available : .unavailable(.unknownModel)
        } catch {
            // A cancelled request says nothing about the provider.
            if error == .cancelled { return .unavailable(.failed) }
            availability = .unavailable(UnavailabilityReason(error))
        }
        health.recordCheck(availability, at: askedAt)
        return availability
    }

    /// Returns whether the list has the model, or the service has no list. A name without a tag means the tag `latest`.
    private func listsModel(_ response: HTTPClientResponse) throws(ModelFault) -> Bool {
        if [404, 405, 501].contains(response.status) { return true }
        try requireSuccess(response)
        let models = try Self.parseDocument(response)["data"]?.arrayValue ?? []
        let names = models.compactMap { $0["id"]?.stringValue }
        return names.contains { $0 == model || $0 == "\(model):latest" || "\($0):latest" == model }
    }

    // MARK: One request

    private func ask(
        _ request: ModelRequest, since startedAt: ContinuousClock.Instant
    ) async throws(ModelFault) -> HTTPClientResponse {
        let remainingTime = limits.questionTimeout - (now() - startedAt)
        guard remainingTime > .zero else { throw .timedOut }
        var headers = modelProtocol.headers(key) + [("Content-Type", "application/json")]
        if let traceparent = request.traceparent { headers.append(("traceparent", traceparent)) }
        let body = modelProtocol.body(request, model: model, health.habits(of: model))
        return try await send("POST", modelProtocol.generatePath, headers, body, remainingTime)
    }

    /// Learns from a refusal of the request's fields.
    /// - Returns: whether the next request omits or replaces a field.
    private func learnHabits(from response: HTTPClientResponse) -> Bool {
        guard response.status == 400 || response.status == 422 else { return false }
        var habits = health.habits(of: model)
        guard habits.learn(from: HTTPRefusal(try? JSONValue(parsing: response.body))) else { return false }
        health.recordHabits(habits, of: model)
        return true
    }

    private func parseAnswer(_ response: HTTPClientResponse) throws(ModelFault) -> ModelAnswer {
        let document = try Self.parseDocument(response)
        do throws(AnswerFault) { return try modelProtocol.parse(document) } catch {
            if error.isSpentOnThinking {
                var habits = health.habits(of: model)
                habits.learnThinking()
                health.recordHabits(habits, of: model)
            }
            throw error.fault
        }
    }

    private func send(
        _ method: String, _ path: String, _ headers: [(name: String, value: String)], _ body: [UInt8]?,
        _ totalTimeout: Duration
    ) async throws(ModelFault) -> HTTPClientResponse {
        do throws(HTTPClientError) {
            return try await endpoint.send(
                method, path, headers: headers, body: body, limits: limits.requestLimits(totalTimeout: totalTimeout))
        } catch {
            let fault = ModelFault(error)
            if fault.isUnreachableOrTimedOut || error == .interrupted {
                health.recordFault(at: now(), isConnectionFault: fault == .unreachable)
            }
            throw fault
        }
    }

    /// Throws unless the status is 200. Records the provider's rate limit for 429 and 529, or a fault for any other
    /// status from 500.
    private func requireSuccess(_ response: HTTPClientResponse) throws(ModelFault) {
        switch response.status {
        case 200: return
        case 401, 403: throw .keyRefused
        case 413: throw .tooLong
        // Some services answer 529 if they are overloaded.
        case 429, 529:
            let seconds = response.secondsToWait
            health.recordLimit(seconds: seconds, at: now())
            throw .limited(seconds: seconds)
        // The body is read, because the status does not show that a prompt is too long.
        case 400 where Self.isContextExceeded(response): throw .tooLong
        case 500...: health.recordFault(at: now())
        default: break
        }
        throw .failed(status: response.status)
    }

    private static func isContextExceeded(_ response: HTTPClientResponse) -> Bool {
        let document = try? JSONValue(parsing: response.body)
        return document?["error"]?["code"]?.stringValue == "context_length_exceeded"
    }

    private static func parseDocument(_ response: HTTPClientResponse) throws(ModelFault) -> JSONValue {
        do throws(JSONError) { return try JSONValue(parsing: response.body) } catch { throw .unreadable }
    }

    /// Returns the fields of a structured answer.
    /// - Throws: `unreadable` if the text is not a JSON object of strings that the schema allows.
    private static func fields(of text: String, _ schema: OutputSchema) throws(ModelFault) -> [String: String] {
        guard let members = (try? JSONValue(parsing: text))?.objectValue?.members else { throw .unreadable }
        var fields: [String: String] = [:]
        for member in members {
            guard let value = member.value.stringValue else { throw .unreadable }
            fields[member.key] = value
        }
        guard schema.allows(fields) else { throw .unreadable }
        return fields
    }
}

extension HTTPClientResponse {
    /// The number of seconds that the server asks to wait: `Retry-After` in seconds, or as a date, which is compared
    /// with the server's own `Date`; nil if it names no time.
    var secondsToWait: Int? {
        if let retryAfterSeconds { return retryAfterSeconds }
        guard let until = header("retry-after").flatMap({ Timestamp(httpDate: $0) }),
            let now = header("date").flatMap({ Timestamp(httpDate: $0) })
        else { return nil }
        return Int(clamping: max(0, until.seconds - now.seconds))
    }
}

extension ModelFault {
    init(_ error: HTTPClientError) {
        switch error {
        case .unresolvable, .unreachable, .forbiddenAddress, .untrusted, .loginDenied, .failed: self = .unreachable
        case .timedOut: self = .timedOut
        case .tooLarge, .interrupted: self = .unreadable
        case .cancelled: self = .cancelled
        // The URL, the key or the trace has characters that are not allowed there.
        case .malformedRequest: self = .unavailable(.notConfigured)
        }
    }

    fileprivate var isUnreachableOrTimedOut: Bool { self == .unreachable || self == .timedOut }
}

extension UnavailabilityReason {
    fileprivate init(_ fault: ModelFault) {
        switch fault {
        case .unavailable(let reason): self = reason
        case .unreachable: self = .unreachable
        case .timedOut: self = .timedOut
        case .keyRefused: self = .keyRefused
        case .limited: self = .limited
        case .failed, .unreadable, .tooLong, .refused, .cancelled: self = .failed
        }
    }
}
