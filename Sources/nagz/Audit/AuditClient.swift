import Contract
import Foundation
import HTTPClient
import Reactor

/// The client of a server's audit operations over HTTP, through the environment's proxy if there is one. The requests
/// of a command run on one event loop.
final class AuditClient: Sendable {
    private let baseURL: String
    private let token: String?
    private let loop: EventLoop

    /// - Parameter baseURL: the server's URL, such as `https://nagz.example.org`.
    init(_ baseURL: String) throws {
        guard let url = URL(string: baseURL), url.scheme == "https" || url.scheme == "http", url.host != nil else {
            throw Stop(.usage, "--url takes an http or https address, such as http://127.0.0.1:9800")
        }
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        token = ProcessInfo.processInfo.environment["NAGZ_TOKEN"]
        loop = try EventLoop(name: "nagz-audit")
        try loop.start()
    }

    deinit { loop.stop() }

    /// Calls an operation, and returns its response of at most 64 MB.
    func call<Parameters, Answer>(
        _ endpoint: Endpoint<Parameters, NoBody, Answer>, _ parameters: Parameters
    ) async throws -> Answer {
        var request = makeRequest(endpoint.target(parameters))
        (request.limits.maxResponseBodyBytes, request.limits.totalTimeout) = (64 << 20, .seconds(60))
        let response = try await send(request)
        do { return try endpoint.decode(status: response.status, body: response.body.span) } catch {
            throw stopError(for: error)
        }
    }

    /// Calls `receive` with the bytes of an export as they arrive.
    func export(_ query: AuditExportQuery, _ receive: @escaping @Sendable (Data) throws -> Void) async throws {
        var request = makeRequest(API.exportAuditLog.target(query))
        (request.limits.maxResponseBodyBytes, request.limits.totalTimeout) = (.max, .seconds(86_400))
        request.limits.stallTimeout = .seconds(60)
        let response = try await send(request, receive)
        guard response.status == 200 else {
            throw stopError(for: APIError(status: response.status, body: response.body.span))
        }
    }

    /// Posts text to another server's URL.
    func post(_ text: String, to address: String) async throws {
        let response = try await send(
            HTTPClientRequest(
                "POST", address, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8)))
        guard (200..<300).contains(response.status) else {
            throw Stop(.unavailable, "\(address) answered \(response.status)")
        }
    }

    private func makeRequest(_ target: String) -> HTTPClientRequest {
        var headers = [(name: "User-Agent", value: "nagz/\(NagzVersion.current)")]
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        return HTTPClientRequest("GET", baseURL + target, headers: headers)
    }

    private func stopError(for refusal: APIError) -> Stop {
        let hint = refusal.status == 401 ? " (set NAGZ_TOKEN to an access token, which is valid for a day)" : ""
        return Stop(.unavailable, "\(baseURL) answered \(refusal.status): \(refusal.message)\(hint)")
    }

    /// Sends a request.
    /// - Parameter receive: called with the content of a 200 response, which is then not returned.
    private func send(
        _ request: HTTPClientRequest, _ receive: (@Sendable (Data) throws -> Void)? = nil
    ) async throws -> HTTPClientResponse {
        try await loop.runTask { poller in
            // The person at the terminal named the server, so it may be in a private network.
            let client = HTTPClient(poller, networks: .unrestricted, usesProxy: true)
            defer { client.close() }
            var (content, fault): ([UInt8], (any Error)?) = ([], nil)
            do {
                var response = try await client.send(request) { response, bytes in
                    guard response.status == 200, let receive else {
                        content += bytes
                        return content.count <= request.limits.maxResponseBodyBytes
                    }
                    do { try receive(Data(bytes)) } catch { fault = error }
                    return fault == nil
                }
                response.body = content
                return response
            } catch {
                throw fault ?? Stop(.unavailable, "\(request.url): \(error)")
            }
        }
    }
}
