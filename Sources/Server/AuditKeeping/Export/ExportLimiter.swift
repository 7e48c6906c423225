import Contract
import Domain
import HTTP
import Reactor

/// Limits the exports, verifications and checks that run at the same time in this process: for a person, for a client's
/// network, and in all. Each export may hold a write buffer while its reader is slow, and ordinary answers need the
/// same memory.
final class ExportLimiter: Sendable {
    /// The largest number of exports that one person may run at the same time.
    static let maxRunningPerPerson = 2
    /// The largest number of exports that may run at the same time for clients of one network.
    static let maxRunningPerNetwork = 4

    private struct Counts {
        var total = 0
        var byPerson: [UserID: Int] = [:]
        var byNetwork: [RemoteAddress.Network: Int] = [:]
    }

    private let maxRunning: Int
    private let counts = Locked(Counts())

    /// Creates the limiter. All exports together may use a quarter of `maxAnswerMemoryBytes`.
    init(_ limits: Limits) { maxRunning = max(1, limits.maxAnswerMemoryBytes / 4 / max(1, limits.maxWriteBufferBytes)) }

    /// The number of running exports in this process.
    var runningCount: Int { counts.withLock { $0.total } }

    /// Counts one more export, until the returned value is released.
    /// - Parameter network: the client's network; with nil the export counts for the person and in all only.
    /// - Throws: 429 when the person or the network has too many; 503 when there are too many in all.
    func begin(_ person: UserID, from network: RemoteAddress.Network?) throws(APIError) -> RunningExport {
        let refusal: APIError? = counts.withLock { counts in
            let networkCount = network.flatMap { counts.byNetwork[$0] } ?? 0
            guard counts.byPerson[person] ?? 0 < Self.maxRunningPerPerson, networkCount < Self.maxRunningPerNetwork
            else {
                return APIError.tooManyExportsByPersonOrNetwork
            }
            guard counts.total < maxRunning else {
                return APIError.tooManyExports
            }
            counts.total += 1
            counts.byPerson[person, default: 0] += 1
            if let network { counts.byNetwork[network, default: 0] += 1 }
            return nil
        }
        if let refusal { throw refusal }
        return RunningExport(limiter: self, person: person, network: network)
    }

    fileprivate func end(_ person: UserID, _ network: RemoteAddress.Network?) {
        counts.withLock { counts in
            counts.total -= 1
            let personCount = (counts.byPerson[person] ?? 1) - 1
            counts.byPerson[person] = personCount > 0 ? personCount : nil
            guard let network else { return }
            let networkCount = (counts.byNetwork[network] ?? 1) - 1
            counts.byNetwork[network] = networkCount > 0 ? networkCount : nil
        }
    }
}

/// A running export, which counts against the limits while this object lives. The stream retains it.
final class RunningExport: Sendable {
    private let limiter: ExportLimiter
    private let person: UserID
    private let network: RemoteAddress.Network?

    fileprivate init(limiter: ExportLimiter, person: UserID, network: RemoteAddress.Network?) {
        self.limiter = limiter
        self.person = person
        self.network = network
    }

    deinit { limiter.end(person, network) }
}
