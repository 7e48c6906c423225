// A small client of Nagz to copy from: sign-in with refresh, pages, writes that are safe to repeat, and sync. Needs Foundation alone, and
// is tested with Swift 6.3 on Linux. The WebSocket and the check of a webhook are only in client.js and client.py.
//
// In an app whose default isolation is the main actor, declare the types of requests and responses `nonisolated`, like those here.

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An error response: its status, and code, message and details of the error.
nonisolated struct NagzError: LocalizedError, Decodable {
    /// The details that most programs decide by. Others can be declared here.
    struct Details: Decodable {
        let field, reason: String?
    }

    var status = 0
    var retryAfter = 0
    let code, message: String
    let details: Details?

    var errorDescription: String? { message }

    private enum CodingKeys: CodingKey { case code, message, details }
}

/// The tokens of a session.
nonisolated struct Session: Codable {
    var accessToken, refreshToken: String
}

/// The response of an operation that returns nothing, or nothing that the app needs.
nonisolated struct Nothing: Decodable {}

/// A page of the feed. The app declares the rows that it stores beside these members.
nonisolated protocol SyncPage: Decodable, Sendable {
    var cursor: String { get }
    var hasMore: Bool { get }
    var mustRefetch: Bool { get }
}

actor Client {
    typealias Fetch = @Sendable (URLRequest) async throws -> (Data, URLResponse)

    var session: Session?
    private let server: String
    private let fetch: Fetch
    private var refreshing: Task<Void, any Error>?

    init(
        server: String, session: Session? = nil,
        fetch: @escaping Fetch = { try await URLSession.shared.data(for: $0) }
    ) {
        self.server = server.hasSuffix("/") ? String(server.dropLast()) : server
        self.session = session
        self.fetch = fetch
    }

    func logIn(email: String, password: String) async throws {
        session = try await send("POST", "/auth/login", ["email": email, "password": password], as: Session.self)
    }

    /// Sends a request once. An access token that has expired is refreshed first.
    @discardableResult
    func send<Response: Decodable & Sendable>(
        _ method: String, _ path: String, _ body: (any Encodable & Sendable)? = nil, key: String? = nil,
        as _: Response.Type = Nothing.self
    ) async throws -> Response {
        let usedSession = session
        do {
            return try await sendOnce(method, path, body, key)
        } catch let error as NagzError where error.status == 401 && !path.hasPrefix("/auth/") {
            guard let usedSession else { throw error }
            try await refresh(usedSession)
        }
        return try await sendOnce(method, path, body, key)
    }

    /// Sends a write until there is a response. The key makes it happen once, however often it is sent.
    @discardableResult
    func write<Response: Decodable & Sendable>(
        _ method: String, _ path: String, _ body: (any Encodable & Sendable)? = nil, attempts: Int = 5,
        as _: Response.Type = Nothing.self
    ) async throws -> Response {
        let key = UUID().uuidString
        var attempt = 1
        while true {
            var delay = 1 << (attempt - 1)
            do {
                return try await send(method, path, body, key: key, as: Response.self)
            } catch let error as NagzError where [429, 503].contains(error.status) && attempt < attempts {
                if error.retryAfter > 0 { delay = error.retryAfter }
            } catch let error as URLError where error.code != .cancelled && attempt < attempts {
                // No connection, or no response: it may have happened or not.
            }
            try await Task.sleep(for: .seconds(delay))
            attempt += 1
        }
    }

    /// Yields the items of a list, page after page.
    nonisolated func pages<Item>(_ path: String, size: Int = 100, of _: Item.Type) -> Pages<Item> {
        Pages(client: self, path: path, size: size)
    }

    /// Reads what has changed since the cursor (`start` at first), and returns the next one. `store` gets each page, and keeps its
    /// rows and its `cursor` together.
    func sync<Changes: SyncPage>(
        _ family: String, since start: String, store: @Sendable (Changes) async throws -> Void
    ) async throws -> String {
        var cursor = start
        while true {
            let value = cursor.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? cursor
            let page = try await send("GET", "/sync/events?family_id=\(family)&cursor=\(value)", as: Changes.self)
            try await store(page)  // with `mustRefetch` it replaces everything
            cursor = page.cursor
            if !page.hasMore { return cursor }
        }
    }

    /// Exchanges the tokens once for all requests that found them expired.
    private func refresh(_ expired: Session) async throws {
        guard session?.accessToken == expired.accessToken else { return }
        if refreshing == nil {
            refreshing = Task {
                defer { refreshing = nil }
                // A refresh token is used once: store the new pair before anything else.
                session = try await sendOnce("POST", "/auth/refresh", ["refresh_token": expired.refreshToken], nil)
            }
        }
        try await refreshing?.value
    }

    private func sendOnce<Response: Decodable & Sendable>(
        _ method: String, _ path: String, _ body: (any Encodable & Sendable)?, _ key: String?
    ) async throws -> Response {
        guard let url = URL(string: "\(server)/api/v1\(path)") else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 30)
        request.httpMethod = method
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let session { request.setValue("Bearer \(session.accessToken)", forHTTPHeaderField: "Authorization") }
        if let key { request.setValue(key, forHTTPHeaderField: "Idempotency-Key") }
        if let body { request.httpBody = try JSONEncoder.nagz.encode(body) }
        let (data, response) = try await fetch(request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        guard 200..<300 ~= response.statusCode else {
            var error = try JSONDecoder.nagz.decode(ErrorResponse.self, from: data).error
            error.status = response.statusCode
            error.retryAfter = Int(response.value(forHTTPHeaderField: "Retry-After") ?? "") ?? 0
            throw error
        }
        return try JSONDecoder.nagz.decode(Response.self, from: data.isEmpty ? Data("{}".utf8) : data)
    }
}

/// The items of a list, which are read a page at a time.
nonisolated struct Pages<Item: Decodable & Sendable>: AsyncSequence, AsyncIteratorProtocol {
    private struct Page: Decodable {
        let items: [Item]
        let total: Int
        let limit: Int
    }

    fileprivate let client: Client
    fileprivate let path: String
    fileprivate let size: Int
    fileprivate var items: ArraySlice<Item> = []
    fileprivate var offset = 0
    fileprivate var total = 1

    func makeAsyncIterator() -> Self { self }

    mutating func next() async throws -> Item? {
        while items.isEmpty, offset < total {
            let query = "\(path.contains("?") ? "&" : "?")limit=\(size)&offset=\(offset)"
            let page = try await client.send("GET", path + query, as: Page.self)
            (items, offset, total) = (page.items[...], offset + page.limit, page.total)
        }
        return items.popFirst()
    }
}

nonisolated private struct ErrorResponse: Decodable {
    let error: NagzError
}

nonisolated extension JSONEncoder {
    /// Writes `dueAt` as `due_at`, and moments as the API reads them.
    static var nagz: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys  // a write that is repeated has to have the same bytes
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }
}

nonisolated extension JSONDecoder {
    /// Reads `due_at` as `dueAt`, and moments with their three fraction digits.
    static var nagz: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            return try Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))
        }
        return decoder
    }
}
