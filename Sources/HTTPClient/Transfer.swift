import CCurl
import Glibc

/// A request or mail in progress, or a connection that was opened for the caller: libcurl's handle, and the part of the
/// response that has arrived.
///
/// libcurl calls back with an unretained pointer to this object; `HTTPClient` retains it until the handle is removed.
@safe final class Transfer {
    typealias Outcome = Result<HTTPClientResponse, HTTPClientError>

    let handle: UnsafeMutableRawPointer
    /// Whether the transfer only opens a connection.
    let isConnectOnly: Bool
    /// The number that identifies the transfer.
    var number: Int { unsafe Int(bitPattern: handle) }
    var continuation: CheckedContinuation<Outcome, Never>?
    /// The function that gets each piece of the content. It returns false to end the transfer. If it is nil, the
    /// content is collected in the response's body.
    var receive: ((HTTPClientResponse, [UInt8]) -> Bool)?

    /// The header lines of a request, or the recipients of a mail.
    private var lines: UnsafeMutablePointer<curl_slist>?
    /// The part of a mail that is still to be sent.
    private var upload: ArraySlice<UInt8> = []
    private let limits: HTTPClientRequest.Limits
    private let networks: NetworkGuard
    private let usesUnixSocket: Bool
    private var response = HTTPClientResponse(status: 0)
    private var headBytes = 0
    private var bodyBytes = 0
    private var isTooLarge = false
    private var hasReceiverStopped = false
    private var isAddressForbidden = false

    /// - Parameters:
    ///   - authoritiesPath: the path of a PEM file with trusted certificates; nil for the system's.
    ///   - usesProxy: whether the request goes through the proxy that the environment names.
    ///   - isConnectOnly: whether nothing is sent: the transfer ends when the connection, with TLS, is open.
    init(
        _ request: HTTPClientRequest, _ networks: NetworkGuard, authoritiesPath: String?, usesProxy: Bool = false,
        isConnectOnly: Bool = false
    ) throws(HTTPClientError) {
        guard request.isWellFormed else { throw .malformedRequest }
        guard let handle = unsafe curl_easy_init() else { throw .failed(code: CURLE_OUT_OF_MEMORY.rawValue) }
        unsafe self.handle = unsafe handle
        (limits, self.networks, self.isConnectOnly) = (request.limits, networks, isConnectOnly)
        usesUnixSocket = request.unixSocket != nil
        setCommonOptions(authoritiesPath, usesProxy: usesProxy)
        guard setOptions(of: request) else { throw .malformedRequest }
    }

    /// Creates the transfer of a mail to a relay.
    /// - Parameter mail: nil only connects to the relay and signs in.
    init(_ mail: Mail?, to relay: MailRelay, _ networks: NetworkGuard, authoritiesPath: String?) throws(HTTPClientError)
    {
        guard mail?.isWellFormed ?? true else { throw .malformedRequest }
        guard let handle = unsafe curl_easy_init() else { throw .failed(code: CURLE_OUT_OF_MEMORY.rawValue) }
        unsafe self.handle = unsafe handle
        // The timeout is longer, because relays delay their greeting, and the reply to a wrong password, on purpose.
        var limits = HTTPClientRequest.Limits()
        limits.connectTimeout = .seconds(15)
        (self.limits, self.networks, isConnectOnly) = (limits, networks, mail == nil)
        usesUnixSocket = false
        upload = mail?.bytes[...] ?? []
        setCommonOptions(authoritiesPath)
        guard setOptions(of: mail, to: relay) else { throw .malformedRequest }
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(lines)
    }

    // MARK: Options

    /// Sets the options that requests and mails have in common.
    private func setCommonOptions(_ authoritiesPath: String?, usesProxy: Bool = false) {
        set(CURLOPT_NOSIGNAL, 1)
        // A cancelled transfer must not wait for the thread that resolves its name.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(limits.connectTimeout))
        set(CURLOPT_TIMEOUT_MS, Self.milliseconds(limits.totalTimeout))
        set(CURLOPT_LOW_SPEED_LIMIT, 1)
        set(CURLOPT_LOW_SPEED_TIME, max(1, Int(limits.stallTimeout.components.seconds)))
        if usesProxy { set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1) } else { _ = set(CURLOPT_PROXY, "") }
        if let authoritiesPath { _ = set(CURLOPT_CAINFO, authoritiesPath) }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe CCurlSetReceiver(handle, receiveHeaderLine, receiveBody, context)
        _ = unsafe CCurlSetSocketOpener(handle, openSocket, context)
        _ = unsafe CCurlSetConnectionCheck(handle, checkConnection, context)
    }

    /// Sets the options of a mail.
    /// - Returns: whether libcurl accepted them.
    private func setOptions(of mail: Mail?, to relay: MailRelay) -> Bool {
        // Mails are sent without TLS only to this machine.
        set(CURLOPT_USE_SSL, Int(relay.requiresSTARTTLS ? CURLUSESSL_ALL.rawValue : CURLUSESSL_TRY.rawValue))
        var isSet = set(CURLOPT_PROTOCOLS_STR, "smtp,smtps") && set(CURLOPT_URL, relay.url)
        if let user = relay.user { isSet = isSet && set(CURLOPT_USERNAME, user) }
        if let password = relay.password { isSet = isSet && set(CURLOPT_PASSWORD, password) }
        set(CURLOPT_CONNECT_ONLY, isConnectOnly ? 1 : 0)
        guard let mail else { return isSet }
        isSet = isSet && set(CURLOPT_MAIL_FROM, "<\(mail.from)>")
        guard let recipients = unsafe curl_slist_append(nil, "<\(mail.to)>") else { return false }
        unsafe lines = unsafe recipients
        _ = unsafe CCurlSetRecipients(handle, lines)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe CCurlSetSender(handle, sendMail, curl_off_t(upload.count), context)
        return isSet
    }

    /// Sets the options of a request.
    /// - Returns: whether libcurl accepted them.
    private func setOptions(of request: HTTPClientRequest) -> Bool {
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_HTTP_VERSION, Int(isConnectOnly ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS))
        set(CURLOPT_CONNECT_ONLY, isConnectOnly ? 1 : 0)
        set(CURLOPT_FRESH_CONNECT, request.isSentAtMostOnce ? 1 : 0)
        // Requests to one HTTP/2 server share a connection: they wait for the handshake of the first one. Without TLS
        // they would wait for the first response.
        set(CURLOPT_PIPEWAIT, request.url.prefix(6).lowercased() == "https:" ? 1 : 0)
        _ = unsafe CCurlSetSize(handle, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(limits.maxResponseBodyBytes))
        var isSet = set(CURLOPT_PROTOCOLS_STR, "http,https") && set(CURLOPT_URL, request.url)
        isSet = isSet && set(CURLOPT_CUSTOMREQUEST, request.method)
        if let path = request.unixSocket { isSet = isSet && set(CURLOPT_UNIX_SOCKET_PATH, path) }
        if let body = request.body {
            let code = unsafe CCurlSetBody(handle, body, curl_off_t(body.count))
            isSet = isSet && code == CURLE_OK
        } else if request.method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        }
        // A line without a value keeps libcurl from adding this field.
        var head = ["Expect:"]
        if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            head.append("Content-Type:")
        }
        head += request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        for line in head {
            guard let extendedLines = unsafe curl_slist_append(lines, line) else { return false }
            unsafe lines = unsafe extendedLines
        }
        _ = unsafe CCurlSetHeaders(handle, lines)
        return isSet
    }

    private func set(_ option: CURLoption, _ value: Int) { _ = unsafe CCurlSetNumber(handle, option, value) }

    private func set(_ option: CURLoption, _ text: String) -> Bool {
        unsafe CCurlSetText(handle, option, text) == CURLE_OK
    }

    /// Returns the milliseconds of a duration, at least 1, because 0 means libcurl's default.
    private static func milliseconds(_ span: Duration) -> Int {
        let (seconds, attoseconds) = span.components
        return max(1, Int(min(seconds, 1_000_000)) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
    }

    // MARK: Response

    /// Adds a header line to the response.
    /// - Returns: whether the transfer may continue.
    fileprivate func process(headerLine bytes: UnsafeRawBufferPointer) -> Bool {
        headBytes += bytes.count
        guard headBytes <= limits.maxResponseHeadBytes else {
            isTooLarge = true
            return false
        }
        let line = unsafe String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // The lines of a final response follow those of an interim one.
            response.headers = []
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let end = value.lastIndex { !$0.isWhitespace }
            response.headers.append((line[..<colon].lowercased(), end.map { String(value[...$0]) } ?? ""))
        }
        return true
    }

    /// Adds content to the response, or passes it on.
    /// - Returns: whether the transfer may continue.
    fileprivate func process(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= limits.maxResponseBodyBytes - bodyBytes else {
            isTooLarge = true
            return false
        }
        bodyBytes += bytes.count
        guard let receive else {
            unsafe response.body.append(contentsOf: bytes)
            return true
        }
        response.status = unsafe CCurlNumber(handle, CURLINFO_RESPONSE_CODE)
        hasReceiverStopped = !receive(response, unsafe [UInt8](bytes))
        return !hasReceiverStopped
    }

    /// Copies the next bytes of a mail.
    /// - Returns: the number of bytes that were copied; 0 at the end of the mail.
    fileprivate func copyUpload(to space: UnsafeMutableRawBufferPointer) -> Int {
        let part = upload.prefix(space.count)
        unsafe space.copyBytes(from: part)
        upload = upload.dropFirst(part.count)
        return part.count
    }

    /// Returns whether the transfer may connect to the address, and notes a refusal for its outcome.
    /// - Parameter address: nil for anything but an IP address.
    fileprivate func approveConnection(to address: NetworkAddress?, isUnixSocket: Bool) -> Bool {
        let mayConnect = usesUnixSocket ? isUnixSocket : address.map(networks.allows) ?? false
        if !mayConnect { isAddressForbidden = true }
        return mayConnect
    }

    /// Returns whether a request may be sent over the connection.
    /// - Parameter peer: the address of the peer, with a zone if it is link-local.
    func approveSending(to peer: String) -> Bool {
        usesUnixSocket || approveConnection(to: NetworkAddress(peer.prefix { $0 != "%" }), isUnixSocket: false)
    }

    // MARK: Outcome

    /// Returns the outcome that the caller gets for libcurl's result.
    func outcome(for code: CURLcode) -> Outcome {
        if isTooLarge { return .failure(.tooLarge) }
        if hasReceiverStopped { return .failure(.cancelled) }
        if isAddressForbidden, code == CURLE_ABORTED_BY_CALLBACK { return .failure(.forbiddenAddress) }
        switch code {
        case CURLE_OK:
            response.status = unsafe CCurlNumber(handle, CURLINFO_RESPONSE_CODE)
            response.isHTTP2 = unsafe CCurlNumber(handle, CURLINFO_HTTP_VERSION) == Int(CURL_HTTP_VERSION_2_0)
            return .success(response)
        case CURLE_URL_MALFORMAT: return .failure(.malformedRequest)
        case CURLE_COULDNT_RESOLVE_HOST: return .failure(.unresolvable)
        case CURLE_COULDNT_CONNECT: return .failure(isAddressForbidden ? .forbiddenAddress : .unreachable)
        case CURLE_OPERATION_TIMEDOUT: return .failure(.timedOut)
        case CURLE_FILESIZE_EXCEEDED: return .failure(.tooLarge)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM:
            return .failure(.untrusted)
        case CURLE_LOGIN_DENIED: return .failure(.loginDenied)
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL:
            return .failure(.interrupted)
        default: return .failure(.failed(code: code.rawValue))
        }
    }

    /// Resumes the caller with the first outcome; later ones are ignored.
    func finish(_ outcome: Outcome) {
        continuation?.resume(returning: outcome)
        continuation = nil
    }
}

// MARK: libcurl's callbacks

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    unsafe context.map { unsafe Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

/// Passes a header line to the transfer. If the result is not the number of bytes, libcurl ends the transfer.
private func receiveHeaderLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer(context)?.process(headerLine: line) == true ? size * count : -1
}

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer(context)?.process(body: piece) == true ? size * count : -1
}

private func sendMail(
    _ space: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let space = unsafe UnsafeMutableRawBufferPointer(start: space, count: size * count)
    return unsafe transfer(context)?.copyUpload(to: space) ?? 0
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address = unsafe address else { return -1 }
    var bytes = [UInt8](repeating: 0, count: 16)
    let isKnown = unsafe CCurlAddress(address, &bytes) == 1
    let isUnixSocket = unsafe CCurlIsUnixSocket(address) == 1
    let mayConnect = unsafe transfer(context)?
        .approveConnection(to: isKnown ? NetworkAddress(bytes: bytes) : nil, isUnixSocket: isUnixSocket)
    return unsafe mayConnect == true ? CCurlOpenSocket(address) : -1
}

/// Checks the peer's address of an open connection before a request is sent over it.
private func checkConnection(
    _ context: UnsafeMutableRawPointer?, _ peer: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
    _ peerPort: Int32, _ localPort: Int32
) -> Int32 {
    let address = unsafe peer.map { unsafe String(cString: $0) } ?? ""
    return unsafe transfer(context)?.approveSending(to: address) == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}
