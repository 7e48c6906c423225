import Contract
import Foundation
import FoundationNetworking

/// A server's audit operations over HTTP, as the command line asks for them.
struct AuditServer: Sendable {
    private let base: String
    private let token: String?

    /// - Parameter base: such as `https://nagz.example.org`.
    init(_ base: String) throws {
        guard let url = URL(string: base), url.scheme == "https" || url.scheme == "http", url.host != nil else {
            throw Stop(.usage, "--url takes an http or https address, such as http://127.0.0.1:9800")
        }
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        token = ProcessInfo.processInfo.environment["NAGZ_TOKEN"]
    }

    /// One answer, whole.
    func call<Parameters, Answer>(
        _ endpoint: Endpoint<Parameters, NoBody, Answer>, _ parameters: Parameters
    ) async throws -> Answer {
        let (data, response) = try await reach {
            try await URLSession.shared.data(for: request(endpoint.target(parameters)))
        }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        do {
            return try endpoint.answer(status: status, body: [UInt8](data).span)
        } catch {
            throw Stop(.unavailable, "\(base) answered \(error.status): \(error.message)")
        }
    }

    /// The octets of an export as they come.
    func export(_ query: AuditExportQuery, _ take: @escaping @Sendable (Data) throws -> Void) async throws {
        let request = try request(API.exportAuditTrail.target(query))
        let stream = StreamedAnswer(take)
        let status = try await reach {
            try await withCheckedThrowingContinuation { continuation in
                stream.start(request, continuation)
            }
        }
        guard status == 200 else {
            throw Stop(
                .unavailable, "\(base) answered \(status)" + (status == 401 ? ": set NAGZ_TOKEN to a fresh token" : ""))
        }
    }

    /// Sends text to another place.
    static func push(_ text: String, to address: String) async throws {
        guard let url = URL(string: address) else { throw Stop(.usage, "--push takes an address") }
        var request = URLRequest(url: url, timeoutInterval: 30)
        request.httpMethod = "POST"
        request.setValue("text/plain; charset=utf-8", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(text.utf8)
        let (_, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200..<300).contains(status) else { throw Stop(.unavailable, "\(address) answered \(status)") }
    }

    private func request(_ target: String) throws -> URLRequest {
        guard let url = URL(string: base + target) else { throw Stop(.usage, "“\(base)” is no address") }
        var request = URLRequest(url: url, timeoutInterval: 60)
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return request
    }

    private func reach<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as URLError {
            throw Stop(.unavailable, "\(base) cannot be reached: \(error.localizedDescription)")
        }
    }
}

/// Takes an answer piece by piece, on the session's own queue.
private final class StreamedAnswer: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let take: @Sendable (Data) throws -> Void
    /// Only the session's queue touches these.
    private var continuation: CheckedContinuation<Int, any Error>?
    private var failure: (any Error)?
    private var status = 0

    init(_ take: @escaping @Sendable (Data) throws -> Void) { self.take = take }

    func start(_ request: URLRequest, _ continuation: CheckedContinuation<Int, any Error>) {
        self.continuation = continuation
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: queue)
        session.dataTask(with: request).resume()
        session.finishTasksAndInvalidate()
    }

    func urlSession(
        _: URLSession, dataTask _: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        status = (response as? HTTPURLResponse)?.statusCode ?? 0
        completionHandler(.allow)
    }

    func urlSession(_: URLSession, dataTask task: URLSessionDataTask, didReceive data: Data) {
        guard status == 200, failure == nil else { return }
        do {
            try take(data)
        } catch {
            failure = error
            task.cancel()
        }
    }

    func urlSession(_: URLSession, task _: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error = failure ?? error {
            continuation?.resume(throwing: error)
        } else {
            continuation?.resume(returning: status)
        }
        continuation = nil
    }
}
