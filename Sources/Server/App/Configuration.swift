import Domain
import HTTP

/// Everything a server is told when it starts. Nothing here has a secret as its default.
public struct Configuration: Sendable {
    public var host = "127.0.0.1"
    public var port: UInt16 = 9_800
    /// Of a login that is a member of the role `nagz_server` and of nothing else.
    public var databaseURL: String
    /// Event loops, each a thread.
    public var loops: Int
    /// Database sessions of all loops together: four a loop, at most 16, unless told otherwise. Requests share sessions
    /// by pipelining, and more sessions cost the database more than they bring.
    public var databaseConnections: Int
    /// Descriptors that the process may open: the server takes no more connections than they are enough for.
    public var descriptors: Int?
    /// 32 bytes or more each, the newest first.
    public var tokenKeys: [[UInt8]]
    /// Seal the audit log's bodies and sign its Merkle log; nil does neither: for throw-away data.
    public var auditKeyring: AuditKeyring?
    /// Whether this server takes its turn at bringing entries into the log.
    public var runsSequencer = true
    /// Where the newest checkpoint of the log is remembered over restarts; nil forgets it with the process.
    public var checkpointFile: CheckpointFile?
    /// Whether this server takes its turn at checking the log, and the state against it, in the background.
    public var runsBackgroundCheck = true
    var checkPace = BackgroundCheck.Pace()
    public var enforcesRateLimits = true
    /// How many days after its deletion an account is purged: 1 to 30.
    public var purgeDays = AccountPurge.standardDays
    /// Accepts `Authorization: Bearer dev:<user-uuid>`; for development only, and told loudly at start.
    public var acceptsDevelopmentTokens = false
    public var logLevel = Log.Level.info
    /// Where log lines go: standard error.
    public var logDescriptor: Int32 = 2
    /// Origins whose browsers may call the API.
    public var corsOrigins = ["http://localhost:5173"]
    var proxies = TrustedProxies.none
    /// Bytes that answers may hold, in all and for one address.
    public var answerMemory = Limits().answerMemory
    public var answerMemoryPerAddress = Limits().answerMemoryPerAddress
    public var passwordCost = PasswordHashing.Cost.interactive
    /// How many passwords and PINs of each lane may wait for being hashed.
    var hashingQueueLimit = 32

    public init(databaseURL: String, tokenKeys: [[UInt8]], loops: Int) {
        self.databaseURL = databaseURL
        self.tokenKeys = tokenKeys
        self.loops = loops
        databaseConnections = min(4 * loops, 16)
    }

    /// What connections and requests are held to.
    var httpLimits: Limits {
        var limits = Limits()
        limits.answerMemory = answerMemory
        limits.answerMemoryPerAddress = answerMemoryPerAddress
        if let descriptors {
            // Listener, epoll and wake-up of each loop, database sessions, and what the process opens now and then.
            limits.fit(descriptors: descriptors, reserve: 64 + databaseConnections + 4 * loops, loops: loops)
        }
        return limits
    }

    /// How many connections there may be at once where the descriptors allow no more; nil when they are enough.
    public var scarceConnections: Int? {
        let connections = httpLimits.connections
        return connections < Limits().connections ? connections : nil
    }

    /// Lets proxies say whom a request comes from: each an address, or a block such as `10.0.0.0/8`.
    public mutating func trust(proxies names: [String]) throws(UnknownProxy) {
        do throws(TrustedProxies.Malformed) {
            proxies = try TrustedProxies(names)
        } catch {
            throw UnknownProxy(name: error.text)
        }
    }

    /// A name that is neither.
    public struct UnknownProxy: Error {
        public let name: String
    }

    /// What a session with the database is held to.
    static let sessionSettings = [
        ("statement_timeout", "5000"), ("lock_timeout", "2000"), ("idle_in_transaction_session_timeout", "5000"),
        // Short statements spend more on planning than on running; every one of them is keyed by family.
        ("plan_cache_mode", "force_generic_plan"), ("TimeZone", "UTC"), ("jit", "off"),
        // Plans are kept, and may be made while a table is still small: every statement and every join has an index to
        // go by, and what it asks for is mostly in memory.
        ("enable_seqscan", "off"), ("enable_hashjoin", "off"), ("enable_mergejoin", "off"), ("random_page_cost", "1.1"),
    ].map { (name: $0.0, value: $0.1) }
}
