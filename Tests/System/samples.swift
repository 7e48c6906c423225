// Runs the client of openapi/samples in Swift against a server (NAGZ): what it does after an expired token, lost responses and the end
// of a session, and how it reads pages and syncs. Compiled together with the client by Tests/System/websocket.

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Failure: Error {
    let words: String
}

func check(_ isTrue: Bool, _ words: @autoclosure () -> String) throws {
    if !isTrue { throw Failure(words: words()) }
}

struct Me: Decodable {
    let email: String
}

struct Family: Decodable {
    let familyId: String
}

struct Member: Decodable {
    let userId: String
}

struct Nag: Decodable {
    let id: String
    let dueAt: Date
}

struct Changes: SyncPage {
    let nags: [Nag]
    let cursor: String
    let hasMore, mustRefetch: Bool
}

struct NewNag: Encodable {
    let familyId, recipientId: String
    let category = "chores"
    let doneDefinition = "ack_only"
    let description: String
    var dueAt = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 4 * 3_600).rounded())
}

/// Sends the client's requests, and counts refreshes and keys. The server acts on a request before its fault.
actor Network {
    enum Fault { case lostResponse, busy }

    private(set) var refreshes = 0
    private(set) var keys: [String] = []
    private var faults: [Fault] = []
    private var delaysRejection = false
    private var claimsMore = false

    /// Replaces the next responses to requests with a key, one fault for each.
    func fail(_ faults: [Fault]) { self.faults = faults }

    /// Delays the next 401 until the client has refreshed because of another one.
    func delayRejection() { delaysRejection = true }

    /// Makes the next page of the feed say that there is more.
    func claimMore() { claimsMore = true }

    func fetch(_ request: URLRequest) async throws -> (Data, URLResponse) {
        guard let url = request.url else { throw URLError(.badURL) }
        let (data, response) = try await URLSession.shared.data(for: request)
        if url.path.hasSuffix("/auth/refresh") { refreshes += 1 }
        if delaysRejection, (response as? HTTPURLResponse)?.statusCode == 401 {
            delaysRejection = false
            for _ in 0..<100 where refreshes == 0 { try await Task.sleep(for: .milliseconds(50)) }
        }
        if claimsMore, url.path.hasSuffix("/sync/events") {
            claimsMore = false
            let text = String(decoding: data, as: UTF8.self)
            return (Data(text.replacing(#""has_more":false"#, with: #""has_more":true"#).utf8), response)
        }
        guard let key = request.value(forHTTPHeaderField: "Idempotency-Key") else { return (data, response) }
        keys.append(key)
        if faults.isEmpty { return (data, response) }
        switch faults.removeFirst() {
        case .lostResponse:
            throw URLError(.networkConnectionLost)
        case .busy:
            let headers = ["Retry-After": "2"]
            let busy = HTTPURLResponse(url: url, statusCode: 503, httpVersion: nil, headerFields: headers)
            return (Data(#"{"error": {"code": "UNAVAILABLE", "message": "Busy."}}"#.utf8), busy ?? response)
        }
    }
}

/// The pages that the client stored.
actor Store {
    private var pages: [Changes] = []

    func append(_ page: Changes) { pages.append(page) }

    func removeAll() -> [Changes] {
        defer { pages = [] }
        return pages
    }
}

extension Client {
    func signUp(email: String, password: String) async throws {
        let account = ["email": email, "password": password, "display_name": "Sam"]
        session = try await send("POST", "/auth/signup", account, as: Session.self)
    }

    func expire() { session?.accessToken = "expired" }
}

@main
struct Samples {
    private let network: Network
    private let client: Client
    private let email = "sam.\(UUID().uuidString.prefix(12))@example.com".lowercased()
    private let password = "a long passphrase"

    static func main() async {
        do {
            try await Samples(server: ProcessInfo.processInfo.environment["NAGZ"] ?? "").run()
        } catch {
            print("FAILED: \(error)")
            exit(1)
        }
    }

    init(server: String) {
        let network = Network()
        self.network = network
        client = Client(server: server) { try await network.fetch($0) }
    }

    private func run() async throws {
        let (family, child) = try await signUp()
        try await refreshes()
        try await reportsErrors()
        let made = try await repeatsWrites(family, child)
        try await readsPages(family, made)
        try await syncs(family, child, made)
        try await ends()
        print("ok: the Swift client refreshes once, reads pages, repeats a write once and syncs")
    }

    private func signUp() async throws -> (family: String, child: String) {
        try await client.signUp(email: email, password: password)
        let family = try await client.send("POST", "/families", ["name": "The Samples"], as: Family.self).familyId
        try await client.send("POST", "/consents", ["family_id": family, "consent_type": "child_account_creation"])
        let child = ["display_name": "Kim", "role": "child"]
        let member = try await client.send("POST", "/families/\(family)/members/create", child, as: Member.self)
        return (family, member.userId)
    }

    /// Requests that find the token expired at the same time refresh it once.
    private func refreshes() async throws {
        try await client.logIn(email: email, password: password)
        let first = await client.session?.refreshToken
        await client.expire()
        await network.delayRejection()
        let emails = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<8 { group.addTask { try? await client.send("GET", "/me", as: Me.self).email } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        try check(emails == Array(repeating: email, count: 8), "\(emails) are not \(email)")
        let (second, count) = (await client.session?.refreshToken, await network.refreshes)
        try check(second != first && count == 1, "eight requests refreshed \(count) times")
    }

    private func reportsErrors() async throws {
        do {
            try await client.send("GET", "/nags?state=nonsense")
            throw Failure(words: "an unknown state was accepted")
        } catch let error as NagzError {
            let isExpected = error.status == 422 && error.code == "VALIDATION_ERROR" && error.details?.field == "state"
            try check(isExpected, "\(error)")
        }
    }

    /// The first nag is sent three times: the first response is 503, and the second is lost. Each nag is there once.
    private func repeatsWrites(_ family: String, _ child: String) async throws -> [String] {
        await network.fail([.busy, .lostResponse])
        let start = ContinuousClock.now
        var made: [String] = []
        for number in 0..<3 {
            let nag = NewNag(familyId: family, recipientId: child, description: "Task \(number)")
            let answer = try await client.write("POST", "/nags", nag, as: Nag.self)
            try check(answer.dueAt == nag.dueAt, "\(answer.dueAt) is not \(nag.dueAt)")
            made.append(answer.id)
        }
        try check(ContinuousClock.now - start >= .seconds(2 + 2), "the client did not wait as long as it was asked to")
        let keys = await network.keys
        try check(keys.count == 5 && Set(keys).count == 3 && keys[0] == keys[2], "the keys are \(keys)")
        return made
    }

    private func readsPages(_ family: String, _ made: [String]) async throws {
        var listed: [String] = []
        for try await nag in client.pages("/nags?family_id=\(family)", size: 2, of: Nag.self) { listed.append(nag.id) }
        try check(listed.sorted() == made.sorted(), "\(listed) are not \(made)")
    }

    private func syncs(_ family: String, _ child: String, _ made: [String]) async throws {
        let stored = Store()
        func sync(since cursor: String) async throws -> (cursor: String, pages: [Changes], nags: Set<String>) {
            let next = try await client.sync(family, since: cursor) { await stored.append($0) }
            let pages = await stored.removeAll()
            return (next, pages, Set(pages.flatMap(\.nags).map(\.id)))
        }

        let first = try await sync(since: "start")
        try check(first.nags == Set(made) && first.pages.last?.cursor == first.cursor, "\(first)")
        let nag = NewNag(familyId: family, recipientId: child, description: "Task 4")
        let newest = try await client.write("POST", "/nags", nag, as: Nag.self).id
        await network.claimMore()
        let second = try await sync(since: first.cursor)
        try check(second.pages.map { $0.nags.map(\.id) } == [[newest], []], "\(second)")
        try check(!second.pages.contains(where: \.mustRefetch), "\(second)")
        let foreign = try await sync(since: first.cursor + "&of=another+history")
        try check(foreign.pages.first?.mustRefetch == true && foreign.nags == Set(made + [newest]), "\(foreign)")
    }

    /// After the end of the session a request refreshes once, in vain, and is an error. A wrong password does not refresh.
    private func ends() async throws {
        let (token, before) = (await client.session?.refreshToken ?? "", await network.refreshes)
        try await client.send("POST", "/auth/logout", ["refresh_token": token])
        do {
            try await client.send("GET", "/me")
            throw Failure(words: "a request of an ended session was accepted")
        } catch let error as NagzError {
            let count = await network.refreshes - before
            try check(error.status == 401 && count == 1, "\(error), after \(count) refreshes")
        }
        do {
            try await client.logIn(email: email, password: "another passphrase")
            throw Failure(words: "a wrong password was accepted")
        } catch let error as NagzError {
            let count = await network.refreshes - before
            try check(error.status == 401 && count == 1, "\(error), after \(count) refreshes")
        }
    }
}
