import Reactor

/// A limit on bytes held in memory by all loops, in total and per client address.
///
/// Memory is held through a reservation, which returns its bytes when it ends, however a connection or handler ends.
public final class MemoryBudget: Sendable {
    private struct HeldBytes {
        var total = 0
        var byNetwork: [RemoteAddress.Network: Int] = [:]
    }

    private let limit: Int
    private let limitPerAddress: Int
    private let maxSmallBytes: Int
    private let heldBytes = Locked(HeldBytes())

    /// - Parameter maxSmallBytes: reservations up to this many bytes may use the last sixteenth of the limit.
    public init(limit: Int, limitPerAddress: Int, maxSmallBytes: Int) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
        self.maxSmallBytes = maxSmallBytes
    }

    /// The bytes reserved now.
    public var reservedBytes: Int { heldBytes.withLock { $0.total } }

    /// Reserves memory; nil if there is not enough.
    /// - Parameter network: the client; nil counts in total only.
    public func reserve(_ bytes: Int, for network: RemoteAddress.Network?) -> MemoryReservation? {
        guard change(from: 0, to: bytes, network) else { return nil }
        return MemoryReservation(budget: self, network: network, bytes: bytes)
    }

    /// Returns the maximum size of a reservation that has `current` bytes now; the last sixteenth of `limit` is for
    /// small reservations.
    /// - Parameter held: the bytes of all reservations.
    static func allowance(_ limit: Int, held: Int, current: Int, maxSmallBytes: Int) -> Int {
        let others = held - current
        return max(limit - limit / 16 - others, min(maxSmallBytes, limit - others), 0)
    }

    /// Changes the size of a reservation; false, with no change, if there is not enough memory.
    fileprivate func change(from old: Int, to new: Int, _ network: RemoteAddress.Network?) -> Bool {
        heldBytes.withLock { held in
            let networkBytes = network.flatMap { held.byNetwork[$0] } ?? 0
            if new > old {
                guard new <= Self.allowance(limit, held: held.total, current: old, maxSmallBytes: maxSmallBytes) else {
                    return false
                }
                if network != nil, networkBytes - old + new > limitPerAddress { return false }
            }
            held.total += new - old
            if let network {
                let newNetworkBytes = networkBytes + new - old
                held.byNetwork[network] = newNetworkBytes > 0 ? newNetworkBytes : nil
            }
            return true
        }
    }
}

/// Bytes of a budget, returned when the value ends.
public struct MemoryReservation: ~Copyable {
    private let budget: MemoryBudget
    let network: RemoteAddress.Network?
    public private(set) var bytes: Int

    fileprivate init(budget: MemoryBudget, network: RemoteAddress.Network?, bytes: Int) {
        self.budget = budget
        self.network = network
        self.bytes = bytes
    }

    /// Changes the size; false, with no change, if there is not enough memory. Shrinking always succeeds.
    public mutating func resize(to count: Int) -> Bool {
        guard count != bytes else { return true }
        guard budget.change(from: bytes, to: count, network) else { return false }
        bytes = count
        return true
    }

    deinit { _ = budget.change(from: bytes, to: 0, network) }
}

extension Limits {
    /// Returns a new budget for responses, with these limits.
    public func makeAnswerBudget() -> MemoryBudget {
        MemoryBudget(
            limit: maxAnswerMemoryBytes, limitPerAddress: maxAnswerMemoryBytesPerAddress,
            maxSmallBytes: maxSmallMessageBytes)
    }
}
