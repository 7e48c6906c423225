import Glibc
import Reactor

/// Resolves host names on its own threads: the system call blocks, up to half a minute without a name server.
///
/// Concurrent requests for one name share a lookup, so that a name server that does not answer blocks at most one
/// thread for each name. Safe to use from any thread.
public final class HostResolver: Sendable {
    /// The addresses of a name as text, or why there are none.
    public typealias Answer = Result<[String], PostgresError>

    /// The process-wide resolver, with the system's name service.
    public static let system = HostResolver(lookUp: systemAddresses)

    private static let threadCount = 2
    /// The largest number of names that wait for a thread.
    private static let queueLimit = 64
    /// The largest number of callers that wait for one name.
    private static let callerLimitPerName = 1_024

    private struct State {
        /// The pool of lookups, created at the first one, because most processes need none.
        var pool: BlockingPool?
        /// Callers that wait for another caller's lookup, by name.
        var waitingCallers: [String: [CheckedContinuation<Answer?, Never>]] = [:]
    }

    private let lookUp: @Sendable (String) -> Answer
    private let state = Locked(State())

    /// - Parameter lookUp: resolves a name on one of the threads, where it may block.
    public init(lookUp: @escaping @Sendable (String) -> Answer) { self.lookUp = lookUp }

    deinit { state.withLock { $0.pool }?.stop() }

    /// Returns the addresses of `name`. The call has no timeout; it returns on the caller's executor when the lookup
    /// ends.
    func addresses(of name: String) async -> Answer {
        while true {
            let isFirst = state.withLock { state in
                guard state.waitingCallers[name] == nil else { return false }
                state.waitingCallers[name] = []
                return true
            }
            if !isFirst {
                if let answer = await sharedAnswer(for: name) { return answer }
                continue
            }
            let answer = await runLookup(name)
            let callers = state.withLock { $0.waitingCallers.removeValue(forKey: name) ?? [] }
            for caller in callers { caller.resume(returning: answer) }
            return answer
        }
    }

    /// Returns the result of the lookup in progress; nil if it has ended meanwhile.
    private func sharedAnswer(for name: String) async -> Answer? {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> JoinOutcome in
                guard let count = state.waitingCallers[name]?.count else { return .ended }
                guard count < Self.callerLimitPerName else { return .tooMany }
                state.waitingCallers[name]?.append(continuation)
                return .joined
            }
            switch outcome {
            case .joined: break
            case .ended: continuation.resume(returning: nil)
            case .tooMany: continuation.resume(returning: .failure(Self.tooManyLookups))
            }
        }
    }

    /// The outcome of an attempt to join another caller's lookup.
    private enum JoinOutcome {
        /// The lookup in progress will resume the caller.
        case joined
        /// The lookup has ended meanwhile.
        case ended
        /// `callerLimitPerName` callers wait already.
        case tooMany
    }

    private func runLookup(_ name: String) async -> Answer {
        do {
            let pool = try state.withLock { state in
                let pool =
                    try state.pool
                    ?? BlockingPool(
                        name: "nagz-names", threads: Self.threadCount, queueLimitPerLane: Self.queueLimit)
                state.pool = pool
                return pool
            }
            return try await pool.run { [lookUp] in lookUp(name) }
        } catch let error as SystemError {
            return .failure(.unavailable("host names cannot be looked up: \(error)"))
        } catch {
            return .failure(Self.tooManyLookups)
        }
    }

    private static let tooManyLookups = PostgresError.unavailable("too many host names are being looked up")

    @Sendable private static func systemAddresses(of name: String) -> Answer {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let fault = unsafe getaddrinfo(name, nil, &hints, &first)
        guard fault == 0 else {
            let text = unsafe fault == EAI_SYSTEM ? UnsafePointer(strerror(errno)) : gai_strerror(fault)
            let reason = unsafe text.map { unsafe String(cString: $0) } ?? "\(fault)"
            return .failure(.unavailable("could not translate host name \"\(name)\" to address: \(reason)"))
        }
        defer { unsafe freeaddrinfo(first) }
        var addresses: [String] = []
        var next = unsafe first
        while let entry = unsafe next {
            unsafe next = entry.pointee.ai_next
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let status = unsafe getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            guard status == 0 else { continue }
            addresses.append(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        return .success(addresses)
    }
}
