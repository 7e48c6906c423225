import Contract
import Domain

/// The REST client of one signed-in person. It makes typed calls, and refreshes the tokens.
///
/// If an access token has expired, the client refreshes it once and repeats the call. New tokens are saved before they
/// are used. If the process dies before they are saved, the next process uses the old tokens, which the server accepts
/// for another minute.
public actor ServerClient {
    let transport: any Transport
    private let file: SessionFile
    private(set) var session: DeviceSession
    private let now: @Sendable () -> Timestamp
    /// The running exchange of the refresh token, which concurrent calls share; nil if there is none.
    private var refreshTask: Task<Result<DeviceSession, ClientError>, Never>?
    /// The time by which this device's clock is ahead of the server's, by the latest answer with a date; negative if it
    /// is behind, nil before the first such answer.
    public private(set) var clockAhead: Timestamp.Span?

    public init(
        _ session: DeviceSession, keptIn file: SessionFile, over transport: any Transport,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.session = session
        self.file = file
        self.transport = transport
        self.now = now
    }

    /// Calls an operation.
    /// - Throws: `ClientError` for no answer, a refusal, or the end of the session.
    public func call<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>, _ parameters: Parameters, _ body: Body
    ) async throws(ClientError) -> Answer {
        let request = endpoint.request(parameters, body)
        let token = session.accessToken
        var response = try await send(request, token)
        if response.status == 401, endpoint.operation.access == .bearer {
            try await refreshTokens(after: token)
            response = try await send(request, session.accessToken)
            if response.status == 401 { throw .signedOut }
        }
        do {
            return try endpoint.decode(
                status: response.status, body: response.body.span, retryAfter: response.retryAfter)
        } catch {
            throw error.status == 502 && error.code == .internalError ? .unreadable(error.message) : .refused(error)
        }
    }

    public func call<Parameters, Answer>(
        _ endpoint: Endpoint<Parameters, NoBody, Answer>, _ parameters: Parameters
    ) async throws(ClientError) -> Answer {
        try await call(endpoint, parameters, NoBody())
    }

    public func call<Body, Answer>(
        _ endpoint: Endpoint<NoParameters, Body, Answer>, _ body: Body
    ) async throws(ClientError) -> Answer {
        try await call(endpoint, NoParameters(), body)
    }

    /// Deletes the account and all its sessions.
    public func deleteOwnAccount() async throws(ClientError) -> AccountResponse {
        try await call(API.deleteAccount, AccountPath(userID: session.userID))
    }

    /// Ends the session on the server. The session's file is kept.
    public func logOutAtServer() async throws(ClientError) {
        _ = try await call(API.logOut, RefreshRequest(refreshToken: session.refreshToken))
    }

    private func send(
        _ request: Endpoint<some WireParameters, some WireContent, some WireContent>.Request, _ token: Secret?
    ) async throws(ClientError) -> TransportResponse {
        do {
            let response = try await transport.send(
                TransportRequest(method: request.method, target: request.target, token: token, body: request.body))
            if let date = response.date { clockAhead = now() - date }
            return response
        } catch {
            throw .transport(error)
        }
    }

    /// Exchanges the refresh token for new tokens; concurrent calls share one exchange.
    /// - Parameter expiredToken: the access token that the server refused. Nothing is done if it was replaced
    ///   meanwhile.
    private func refreshTokens(after expiredToken: Secret) async throws(ClientError) {
        if session.accessToken != expiredToken { return }
        // Another process of this device may have refreshed the tokens.
        if let savedSession = try? file.load(), savedSession.userID == session.userID,
            savedSession.accessToken != expiredToken
        {
            session = savedSession
            return
        }
        let task =
            refreshTask
            ?? Task { () async -> Result<DeviceSession, ClientError> in
                do throws(ClientError) {
                    return .success(try await requestAndSaveTokens())
                } catch { return .failure(error) }
            }
        refreshTask = task
        let outcome = await task.value
        // The first of those who waited takes the outcome. A later one may find a newer exchange under way.
        if refreshTask == task {
            refreshTask = nil
            if case .success(let refreshedSession) = outcome { session = refreshedSession }
        }
        _ = try outcome.get()
    }

    /// Exchanges the refresh token at the server, and saves the new tokens.
    private func requestAndSaveTokens() async throws(ClientError) -> DeviceSession {
        let endpoint = API.refreshSession
        let response = try await send(
            endpoint.request(RefreshRequest(refreshToken: session.refreshToken)), nil)
        if response.status == 401 {
            let refusal = APIError(status: 401, body: response.body.span)
            throw refusal.reason == ErrorReason.accountDeleted ? .accountDeleted : .signedOut
        }
        let answer: AuthResponse
        do { answer = try endpoint.decode(status: response.status, body: response.body.span) } catch {
            throw .refused(error)
        }
        var refreshedSession = DeviceSession(answer, at: session.server)
        refreshedSession.displayName = refreshedSession.displayName ?? session.displayName
        refreshedSession.logKey = session.logKey
        do { try file.save(refreshedSession) } catch { throw .tokensUnsaved }
        return refreshedSession
    }

    /// Signs in without a session, and returns the new one. The caller saves it.
    public static func signIn<Body>(
        _ endpoint: Endpoint<NoParameters, Body, AuthResponse>, _ body: Body, at server: ServerAddress,
        over transport: any Transport
    ) async throws(ClientError) -> DeviceSession {
        let request = endpoint.request(body)
        let response: TransportResponse
        do {
            response = try await transport.send(
                TransportRequest(method: request.method, target: request.target, token: nil, body: request.body))
        } catch { throw .transport(error) }
        do {
            return DeviceSession(
                try endpoint.decode(status: response.status, body: response.body.span, retryAfter: response.retryAfter),
                at: server)
        } catch {
            throw error.status == 502 && error.code == .internalError ? .unreadable(error.message) : .refused(error)
        }
    }
}

/// A reason why a call failed.
public enum ClientError: Error, Hashable, Sendable {
    /// There is no whole response, or the call was cancelled.
    case transport(TransportError)
    /// The server refused, or failed with a status from 500.
    case refused(APIError)
    /// A successful answer could not be parsed, or a proxy answered with status 502. The text names the reason.
    case unreadable(String)
    /// The session has ended, and the person has to sign in again.
    case signedOut
    /// The account was deleted, and its data must be deleted from the device.
    case accountDeleted
    /// New tokens could not be saved.
    case tokensUnsaved

    /// Whether a retry may succeed later.
    public var isTransient: Bool {
        switch self {
        case .transport(let error): error != .cancelled && error != .untrusted
        case .refused(let error): error.status >= 500 || error.status == 429
        case .unreadable: true
        case .signedOut, .accountDeleted, .tokensUnsaved: false
        }
    }

    /// The failure of the server that the error shows; nil if it shows none.
    public var serverFailure: ServerFailure? {
        if case .refused(let refusal) = self, refusal.reason == ErrorReason.consentMissing { return .consentMissing }
        if self == .transport(.cancelled) { return .cancelled }
        guard hasNoUsableAnswer else { return nil }
        return .unreachable(isConnectionFault: self == .transport(.unreachable))
    }

    /// Whether the server gave no usable answer.
    public var hasNoUsableAnswer: Bool {
        switch self {
        case .transport(let error): error != .cancelled
        case .refused(let error): error.status >= 500
        case .unreadable: true
        case .signedOut, .accountDeleted, .tokensUnsaved: false
        }
    }
}
