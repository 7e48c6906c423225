import Audit
import Contract
import Domain
import HTTP
import JSON
import NagzAI
import Reactor

/// The routes of one loop. It parses requests into typed calls and writes answers as responses.
///
/// A handler of an operation that needs a token (`signedIn`) receives a `Caller`, which only a valid token or a ticket
/// of a socket can create; a handler of an `open` operation does not. Registration is one line for each operation: `routes.signedIn(API.createNag, nags.create)`.
final class RouteTable {
    private(set) var routes: [Route] = []
    private let services: Services
    private let limiter: RateLimiter
    private let log: Log
    private let nameCheck = NameCheck()

    init(services: Services, limiter: RateLimiter, log: Log) {
        self.services = services
        self.limiter = limiter
        self.log = log
    }

    /// Adds an operation without authentication.
    func open<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>,
        _ handler: @escaping (CallContext, Call<Parameters, Body>) async throws -> Answer
    ) {
        addOpen(endpoint, { _, _ in }) { _, context, call in try await handler(context, call) }
    }

    /// Adds an operation with optional authentication: the caller is nil without a token, and with one that is not
    /// valid.
    func optionallySignedIn<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>,
        _ handler: @escaping (Caller?, CallContext, Call<Parameters, Body>) async throws -> Answer
    ) {
        addOpen(
            endpoint,
            { [services] in try? services.verifiedTokens.caller(try Self.bearerToken($0), $1) },
            handler)
    }

    /// Adds an operation that ends a session: the handler gets the session that the access token names, even if the
    /// token has expired. It is nil without a token, and with one that this service did not sign.
    func endingSession<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>,
        _ handler: @escaping (SessionID?, CallContext, Call<Parameters, Body>) async throws -> Answer
    ) {
        addOpen(
            endpoint,
            { [services] request, _ in
                try? Self.bearerToken(request).flatMap { try services.tokens.sessionIgnoringExpiry(of: $0) }
            },
            handler)
    }

    /// Adds an operation that needs no caller.
    /// - Parameter identify: returns what the handler learns of who sent the request.
    private func addOpen<Parameters, Body, Answer, Identity>(
        _ endpoint: Endpoint<Parameters, Body, Answer>,
        _ identify: @escaping (Request, CallContext) -> Identity,
        _ handler: @escaping (Identity, CallContext, Call<Parameters, Body>) async throws -> Answer
    ) {
        precondition(endpoint.operation.access == .open, "\(endpoint.operation.id) needs a caller")
        add(endpoint.operation) { [self] request, context, fields in
            try enforceLimit(endpoint.operation, .network(context.remote), context, &fields)
            let identity = identify(request, context)
            return try await handler(identity, context, makeCall(endpoint, request, &fields)).content
        }
    }

    /// Adds an operation for signed-in callers.
    func signedIn<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>,
        _ handler: @escaping (Caller, Call<Parameters, Body>) async throws -> Answer
    ) {
        signedInWriting(endpoint) { caller, call in try await handler(caller, call).content }
    }

    /// Adds an operation for signed-in callers whose handler writes the JSON of its answer itself, row by row.
    func signedInWriting<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>,
        _ handler: @escaping (Caller, Call<Parameters, Body>) async throws -> [UInt8]
    ) {
        precondition(endpoint.operation.access == .bearer, "\(endpoint.operation.id) is open")
        add(endpoint.operation) { [self] request, context, fields in
            try await serve(endpoint, request, context, &fields, handler)
        }
    }

    /// Adds an operation for signed-in callers whose answer is not a JSON document: text, bytes, or a stream.
    func signedInResponding<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>,
        _ handler: @escaping (Caller, Call<Parameters, Body>) async throws -> Response
    ) {
        precondition(endpoint.operation.access == .bearer, "\(endpoint.operation.id) is open")
        addResponding(endpoint.operation) { [self] request, context, fields in
            try await serve(endpoint, request, context, &fields, handler)
        }
    }

    /// Adds an operation for signed-in callers whose handler reads further fields of the request, and whose answer is
    /// not a JSON document.
    func signedInResponding<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>,
        _ handler: @escaping (Caller, Call<Parameters, Body>, Headers) async throws -> Response
    ) {
        precondition(endpoint.operation.access == .bearer, "\(endpoint.operation.id) is open")
        addResponding(endpoint.operation) { [self] request, context, fields in
            try await serve(endpoint, request, context, &fields) { caller, call in
                try await handler(caller, call, request.headers)
            }
        }
    }

    /// Adds an operation without authentication whose answer is not a JSON document.
    func openResponding<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>,
        _ handler: @escaping (CallContext, Call<Parameters, Body>) async throws -> Response
    ) {
        precondition(endpoint.operation.access == .open, "\(endpoint.operation.id) needs a caller")
        addResponding(endpoint.operation) { [self] request, context, fields in
            try enforceLimit(endpoint.operation, .network(context.remote), context, &fields)
            return try await handler(context, makeCall(endpoint, request, &fields))
        }
    }

    /// Adds an operation with one answer as long as the server runs. It takes no task, and no rate limit counts it.
    func constant<Answer>(_ endpoint: Endpoint<NoParameters, NoBody, Answer>, _ answer: Answer) {
        let response = Response(.ok, .json, bytes: answer.content)
        routes.append(Route(endpoint.operation, handler: .immediate { _ in response }))
    }

    /// Adds a route outside the contract's operations.
    func add(_ route: Route) { routes.append(route) }

    // MARK: From request to response

    /// The handling of one request, which may add header fields to its response.
    private typealias Work<Value> = (Request, CallContext, inout [HeaderField]) async throws -> Value

    /// Adds an operation whose work returns the JSON of its answer; for an empty answer the response has no body.
    private func add(_ operation: Operation, _ work: @escaping Work<[UInt8]>) {
        let status = Status(number: operation.successStatus)
        addResponding(operation) { request, context, fields in
            let content = try await work(request, context, &fields)
            return content.isEmpty ? Response(status) : Response(status, .json, bytes: content)
        }
    }

    private func addResponding(_ operation: Operation, _ work: @escaping Work<Response>) {
        let boundWork = LoopBound(value: work)
        let (services, log) = (LoopBound(value: services), log)
        routes.append(
            Route(
                operation,
                handler: .async { request in
                    var fields: [HeaderField] = []
                    do {
                        let context = try CallContext(request, operation, at: services.value.clock.now())
                        let scope = RequestScope(request: request.id, trace: request.trace)
                        var response = try await RequestScope.$current.withValue(scope) {
                            try await boundWork.value(request, context, &fields)
                        }
                        if !fields.isEmpty { response.fields.insert(contentsOf: fields, at: 0) }
                        return response
                    } catch {
                        return Self.logAndRespond(to: Failure(error), request, fields, log)
                    }
                }))
    }

    private func makeCall<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>, _ request: Request, _ fields: inout [HeaderField]
    ) throws -> Call<Parameters, Body> {
        try Self.requireReadable(request, Body.form)
        var path: [ParameterReader.Pair] = []
        for parameter in request.route?.parameters ?? [] {
            path.append((parameter.name, request.head.pathSegment(parameter.segmentIndex)))
        }
        var query: [ParameterReader.Pair] = []
        for pair in request.query { query.append((pair.name, pair.value)) }
        let (parameters, body) = try nameCheck.read(endpoint, request, path: path, query: query, &fields)
        return Call(parameters, body)
    }

    /// Requires a body that the operation can read.
    /// - Throws: 415 for an encoded body, and for one whose `Content-Type` is not JSON where JSON is needed.
    private static func requireReadable(_ request: Request, _ form: ContentForm) throws(APIError) {
        guard form != .nothing, !request.body.isEmpty else { return }
        if let codingName = request.headers["content-encoding"], codingName.lowercased() != "identity" {
            throw APIError.bodyIsEncoded
        }
        if form == .json, let type = request.headers["content-type"], !isJSON(type) {
            throw APIError.bodyIsNotJSON
        }
    }

    /// Returns whether a media type is JSON's, or one with its suffix (RFC 6839 §3.1).
    private static func isJSON(_ type: String) -> Bool {
        let name = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
        return name == "application/json" || name.hasSuffix("+json")
    }

    /// Authenticates the caller, counts the request, and returns the handler's result. Adds header fields to `fields`.
    private func serve<Parameters, Body, Answer, Value>(
        _ endpoint: Endpoint<Parameters, Body, Answer>, _ request: Request, _ context: CallContext,
        _ fields: inout [HeaderField], _ handler: (Caller, Call<Parameters, Body>) async throws -> Value
    ) async throws -> Value {
        var caller = try authenticateAndCount(request, endpoint.operation, context, &fields)
        let isTraced = endpoint.operation.isTraced
        if isTraced { fields.append(HeaderField(HeaderFields.traceID, context.trace.description)) }
        do {
            let call: Call<Parameters, Body>
            do { call = try makeCall(endpoint, request, &fields) } catch  where isTraced {
                guard let trace = endpoint.clientTrace(in: request) else { throw error }
                fields[fields.count - 1] = HeaderField(HeaderFields.traceID, trace.description)
                caller = caller.traced(by: trace)
                throw error
            }
            if isTraced, let trace = Self.clientTrace(call.body) ?? Self.clientTrace(call.parameters) {
                caller = caller.traced(by: trace)
                fields[fields.count - 1] = HeaderField(HeaderFields.traceID, trace.description)
                let value = try await Self.serve(caller, call, tracedBy: trace, handler)
                Self.addReplayField(caller, &fields)
                return value
            }
            let value = try await handler(caller, call)
            Self.addReplayField(caller, &fields)
            return value
        } catch let refusal as APIError where refusal.reason == ErrorReason.sessionEnded {
            try recountByAddress(caller, endpoint.operation, &fields)
            throw isTraced ? refusal.traced(by: caller.context.trace) : refusal
        } catch let refusal as APIError where isTraced {
            throw refusal.traced(by: caller.context.trace)
        }
    }

    private static func addReplayField(_ caller: Caller, _ fields: inout [HeaderField]) {
        if caller.isResponseReplayed { fields.append(HeaderField(HeaderFields.idempotentReplay, "true")) }
    }

    /// Runs the handler under a trace that the client has named. Not inlined, so that the frame of every request stays
    /// small.
    @inline(never)
    private static func serve<Parameters, Body, Value>(
        _ caller: Caller, _ call: Call<Parameters, Body>, tracedBy trace: TraceID,
        _ handler: (Caller, Call<Parameters, Body>) async throws -> Value
    ) async throws -> Value {
        try await RequestScope.$current.withValue(RequestScope.current?.traced(by: trace)) {
            try await handler(caller, call)
        }
    }

    private static func clientTrace(_ part: some Any) -> TraceID? { (part as? any HasClientTrace)?.clientTrace }

    /// Returns the caller that the request's token names, and counts the request: by the person, or by the address if
    /// the token is not valid.
    /// - Throws: 401 for the token; 400 for several `Authorization` fields; 429 when the quota is used up.
    private func authenticateAndCount(
        _ request: Request, _ operation: Operation, _ context: CallContext, _ fields: inout [HeaderField]
    ) throws(APIError) -> Caller {
        let caller: Caller
        do {
            caller = try services.verifiedTokens.caller(try Self.bearerToken(request), context)
        } catch {
            try enforceLimit(operation, .network(context.remote), context, &fields)
            throw error
        }
        try enforceLimit(operation, .user(caller.userID), context, &fields)
        return caller
    }

    /// Counts a request of an ended session by its address instead, so that a person with an old token cannot use up
    /// the account's limit.
    private func recountByAddress(
        _ caller: Caller, _ operation: Operation, _ fields: inout [HeaderField]
    ) throws(APIError) {
        limiter.refund(.user(caller.userID), operation.tier, at: caller.now)
        fields = []
        try enforceLimit(operation, .network(caller.context.remote), caller.context, &fields)
    }

    /// Counts the request, and adds the `X-RateLimit-*` fields.
    /// - Throws: 429 when the subject has used up its quota.
    private func enforceLimit(
        _ operation: Operation, _ subject: RateLimiter.Subject, _ context: CallContext, _ fields: inout [HeaderField]
    ) throws(APIError) {
        guard let quota = limiter.consume(subject, operation.tier, at: context.now) else { return }
        fields.reserveCapacity(4)
        fields.append(HeaderField(HeaderFields.rateLimit.limit, String(quota.limit)))
        fields.append(HeaderField(HeaderFields.rateLimit.remaining, String(quota.remaining)))
        fields.append(HeaderField(HeaderFields.rateLimit.reset, String(quota.secondsToReset)))
        guard quota.isAllowed else { throw APIError.tooManyRequests(retryAfter: quota.secondsToReset) }
    }

    private static func bearerToken(_ request: Request) throws(APIError) -> String? {
        do {
            return try request.bearerToken()
        } catch {
            throw APIError.authorizationIsRepeated
        }
    }

    /// Logs the cause of a failure, if there is one, and returns the response.
    private static func logAndRespond(
        to failure: Failure, _ request: Request, _ fields: [HeaderField], _ log: Log
    ) -> Response {
        log.write(failure, request)
        return errorResponse(failure.answer, request.id.description, fields)
    }

    /// Returns the response for an error, with its envelope.
    static func errorResponse(_ error: APIError, _ requestID: String, _ fields: [HeaderField] = []) -> Response {
        var fields = fields
        if let seconds = error.retryAfter { fields.append(HeaderField("retry-after", String(seconds))) }
        if error.status == 401 { fields.append(HeaderField("www-authenticate", "Bearer")) }
        return Response(
            Status(number: error.status), .json, fields: fields,
            bytes: ErrorEnvelope(error, requestID: requestID).content)
    }
}

extension APIError {
    /// Returns the refusal of an AI operation with its trace and an error code: the mediator's code, or otherwise the
    /// envelope's.
    fileprivate func traced(by trace: TraceID) -> APIError {
        guard execution == nil else { return self }
        var refusal = self
        refusal.execution = ExecutionFault(
            code: executionCode?.rawValue ?? code.rawValue, traceID: trace,
            isRecoverable: executionCode?.isRecoverable ?? code.isRecoverable)
        return refusal
    }
}

extension Endpoint {
    /// Returns the trace ID that the client sent, also when the rest of the request is invalid.
    fileprivate func clientTrace(in request: HTTP.Request) -> TraceID? {
        if Parameters.self is any HasClientTrace.Type {
            return request.query.first { $0.name == "trace_id" }.flatMap { TraceID($0.value) }
        }
        guard Body.self is any HasClientTrace.Type else { return nil }
        return (try? JSONValue(parsing: request.body.span))?["trace_id"]?.stringValue.flatMap { TraceID($0) }
    }
}

extension CallContext {
    fileprivate init(_ request: Request, _ operation: Operation, at now: Timestamp) throws(APIError) {
        self.now = now
        trace = TraceID(high: request.trace.traceHigh, low: request.trace.traceLow)
        self.request = Domain.RequestID(high: request.id.high, low: request.id.low)
        remote = request.clientAddress.network
        userAgent = request.headers["user-agent"].map {
            String(String.UnicodeScalarView($0.unicodeScalars.prefix(200)))
        }
        if userAgent?.isEmpty == true { userAgent = nil }
        ifMatch = request.headers["if-match"]
        idempotency = try IdempotencyKey(request, operation)
    }
}

extension IdempotencyKey {
    /// Reads the `Idempotency-Key` of a request, and computes the request's fingerprint. Nil without the field, for a
    /// `GET`, and for an operation that needs no token.
    /// - Throws: 422 unless the key is 1 to 255 visible ASCII characters.
    fileprivate init?(_ request: Request, _ operation: Operation) throws(APIError) {
        guard operation.access == .bearer, operation.method != .get, let key = request.headers["idempotency-key"] else {
            return nil
        }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw APIError.idempotencyKeyIsInvalid
        }
        let head = "\(key) \(operation.method.rawValue) \(request.head.rawTarget)\n"
        self.init(
            digest: sha256(Array(key.utf8)), fingerprint: sha256(Array(head.utf8) + request.body),
            successStatus: operation.successStatus)
    }
}

extension Status {
    fileprivate init(number: Int) { self.init(rawValue: UInt16(clamping: number)) }
}

extension HTTP.Method {
    init(_ method: Operation.Method) {
        self =
            switch method {
            case .get: .get
            case .post: .post
            case .put: .put
            case .patch: .patch
            case .delete: .delete
            }
    }
}
