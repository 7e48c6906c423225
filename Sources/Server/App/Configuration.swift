import Domain
import Foundation
import HTTP
import HTTPClient
import Postgres

/// The configuration of a server. No secret has a default.
public struct Configuration: Sendable {
    public var host = "127.0.0.1"
    public var port: UInt16 = 9_800
    /// The connection string of the server's login, which is a member of the role `nagz_server` and of no other role.
    public var databaseURL: String
    /// The connection string of the same login at a hot standby, which reads long pages of the feed; nil for none.
    public var standbyURL: String?
    /// The number of event loops, each of which is a thread.
    public var loops: Int
    /// The number of database sessions of all loops together; by default four for each loop, at most 16. Requests share
    /// sessions by pipelining; more sessions cost the database more than they bring.
    public var databaseConnections: Int
    /// The maximum number of descriptors that the process may open, which limits how many connections the server
    /// accepts; nil for no such limit.
    public var descriptorLimit: Int?
    /// The keys of access tokens, of 32 bytes or more each, the newest first. The newest key signs tokens; all of
    /// them verify tokens.
    public var tokenKeys: [[UInt8]]
    /// The keys that seal the audit log's bodies and sign its Merkle log. Without them entries are neither sealed nor
    /// signed: for throw-away data only.
    public var auditKeyring: AuditKeyring?
    /// Whether this instance may sequence entries into the Merkle log.
    public var runsSequencer = true
    /// The file that keeps the newest checkpoint of the log over restarts; nil keeps it in memory only.
    public var checkpointFile: CheckpointFile?
    /// Whether this instance may run the background check of the audit log.
    public var runsBackgroundCheck = true
    /// The speed of the background check.
    var checkPace = BackgroundCheck.Pace()
    /// Whether this server takes its turn at escalating nags.
    public var runsScheduler = true
    /// The times at which nags escalate; the same on all instances.
    public var escalationPlan = EscalationPlan.standard
    /// Whether this server sends notifications.
    public var runsDeliveries = true
    public var deliveries = DeliveryOptions()
    /// The transport of mails about accounts; nil sends none.
    public var mail: MailOptions?
    /// The options whose URL leads to an address that `--delivery-networks` does not allow. Nothing is sent to these
    /// URLs.
    public var optionsWithRefusedURL: [String] {
        var urls: [(option: String, url: String)] = []
        if runsDeliveries, case .webhook(let webhook) = deliveries.push { urls.append(("push", webhook.url)) }
        // Every instance sends codes.
        if runsDeliveries || deliveries.codeGateway != nil, case .webhook(let webhook) = deliveries.sms {
            urls.append(("sms", webhook.url))
        }
        func isRefused(_ url: String, by networks: NetworkGuard) -> Bool {
            let host = URL(string: url)?.host() ?? ""
            return networks.refuses(host: host.trimmingCharacters(in: ["[", "]"]))
        }
        var refused = urls.filter { isRefused($0.url, by: deliveries.networks) }.map(\.option)
        if let mail, isRefused(mail.transport.url, by: mail.networks) { refused.append("mail") }
        return refused
    }
    /// The language models that this server can ask.
    public var models = ModelOptions()
    public var enforcesRateLimits = true
    /// Limits on the number of open WebSockets.
    var socketLimits = SocketLimiter.Limits()
    /// Limits of each WebSocket.
    var webSocketLimits = WebSocketLimits()
    /// The number of days from an account's deletion to its purge: 1 to 30.
    public var purgeDays = AccountPurge.standardDays
    /// Whether `Authorization: Bearer dev:<user-uuid>` is accepted. For development only; the log warns of it at the
    /// start.
    public var acceptsDevelopmentTokens = false
    public var logLevel = Log.Level.info
    /// The collector that the spans of sampled traces are sent to; nil sends none.
    public var traceCollector: TraceCollector?
    /// The shortest duration of a statement that is logged as slow; nil logs none.
    public var slowQueryThreshold: Duration? = .milliseconds(500)
    /// The descriptor that log lines are written to, by default standard error.
    public var logDescriptor: Int32 = 2
    /// The origins whose pages may call the API from a browser.
    public var corsOrigins = ["http://localhost:5173"]
    /// The path or HTTP address to which `/` redirects; nil if `/` shows the front page.
    public private(set) var homeRedirect: String?
    var proxies = TrustedProxies.none
    /// The maximum memory for all responses together, in bytes.
    public var maxAnswerMemoryBytes = Limits().maxAnswerMemoryBytes
    /// The maximum memory for the responses to one address, in bytes.
    public var maxAnswerMemoryBytesPerAddress = Limits().maxAnswerMemoryBytesPerAddress
    public var passwordCost = PasswordHashing.Cost.interactive
    /// The maximum number of passwords and PINs that wait to be hashed, for each `PasswordHashing.Purpose`.
    var hashingQueueLimitPerPurpose = 32

    public init(databaseURL: String, tokenKeys: [[UInt8]], loops: Int) {
        self.databaseURL = databaseURL
        self.tokenKeys = tokenKeys
        self.loops = loops
        databaseConnections = min(4 * loops, 16)
    }

    /// The limits of connections and requests.
    var httpLimits: Limits {
        var limits = Limits()
        limits.maxAnswerMemoryBytes = maxAnswerMemoryBytes
        limits.maxAnswerMemoryBytesPerAddress = maxAnswerMemoryBytesPerAddress
        if let descriptorLimit {
            // Listener, epoll and wake-up of each loop, database sessions, and what the process opens now and then.
            let sessions = databaseConnections * (standbyURL == nil ? 1 : 2)
            limits.fit(descriptors: descriptorLimit, reserve: 64 + sessions + 4 * loops, loops: loops)
        }
        return limits
    }

    /// The number of connections that the descriptor limit allows; nil unless it is lower than the configured number.
    public var reducedConnectionLimit: Int? {
        let connections = httpLimits.maxConnections
        return connections < Limits().maxConnections ? connections : nil
    }

    /// Makes `/` redirect to another page.
    /// - Parameter address: a path such as `/console`, or an address that begins with `https://` or `http://`.
    /// - Returns: whether the address is one of them, in visible ASCII of at most 2,000 characters; otherwise nothing
    ///   changes.
    public mutating func setHomeRedirect(_ address: String) -> Bool {
        guard address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), address.utf8.count <= 2_000,
            ["/", "https://", "http://"].contains(where: { address.hasPrefix($0) && address != $0 }),
            !address.hasPrefix("//")
        else { return false }
        homeRedirect = address
        return true
    }

    /// Trusts proxies to name the client in `X-Forwarded-For`. Each is an address, or a block such as `10.0.0.0/8`.
    public mutating func trust(proxies names: [String]) throws(UnknownProxy) {
        do throws(TrustedProxies.MalformedAddress) {
            proxies = try TrustedProxies(names)
        } catch {
            throw UnknownProxy(name: error.text)
        }
    }

    /// The error for a proxy that is neither an address nor a block.
    public struct UnknownProxy: Error {
        public let name: String
    }

    /// The number of database sessions of one loop, at the primary or at the standby.
    var databaseConnectionsPerLoop: Int { max(1, databaseConnections / loops) }

    /// The settings of every database session.
    static let databaseSessionSettings = [
        ("statement_timeout", "5000"),
        ("lock_timeout", "\(Database.Limits().lockTimeout / .milliseconds(1))ms"),
        ("idle_in_transaction_session_timeout", "5000"),
        // Short statements spend more on planning than on running; every one of them is keyed by family.
        ("plan_cache_mode", "force_generic_plan"), ("TimeZone", "UTC"), ("jit", "off"),
        // Plans are kept, and may be made while a table is still small. Every statement and every join has an index,
        // and most of the data is in memory. Measured with PostgreSQL's defaults: a page of the feed is planned with 15
        // to 17 sequential scans over empty tables, and a page of recent changes is a quarter slower over full ones.
        ("enable_seqscan", "off"), ("enable_hashjoin", "off"), ("enable_mergejoin", "off"), ("random_page_cost", "1.1"),
    ].map { (name: $0.0, value: $0.1) }
}
