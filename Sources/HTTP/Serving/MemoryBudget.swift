import Reactor

/// A bound on bytes held in memory by all loops together, in total and by client address.
///
/// Whoever holds memory has a reservation, which gives its bytes back when it ends: nothing leaks, whichever way a
/// connection or a handler ends.
public final class MemoryBudget: Sendable {
    private struct Held {
        var total = 0
        var byNetwork: [RemoteAddress.Network: Int] = [:]
    }

    private let limit: Int
    private let limitPerAddress: Int
    private let small: Int
    private let held = Locked(Held())

    /// - Parameter small: up to this size a reservation may use the last sixteenth of the limit.
    public init(limit: Int, limitPerAddress: Int, small: Int) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
        self.small = small
    }

    /// Bytes reserved now.
    public var reservedBytes: Int { held.withLock { $0.total } }

    /// Sets memory aside; nil when there is no room for so much.
    /// - Parameter network: the client; nil counts in total only.
    public func reserve(_ bytes: Int, for network: RemoteAddress.Network?) -> MemoryReservation? {
        guard change(from: 0, to: bytes, network) else { return nil }
        return MemoryReservation(budget: self, network: network, bytes: bytes)
    }

    /// How many bytes one holder may have that has `own` now, where the last sixteenth of `limit` is for small ones.
    static func room(_ limit: Int, held: Int, own: Int, small: Int) -> Int {
        let others = held - own
        return max(limit - limit / 16 - others, min(small, limit - others), 0)
    }

    fileprivate func change(from old: Int, to new: Int, _ network: RemoteAddress.Network?) -> Bool {
        held.withLock { held in
            let ofNetwork = network.flatMap { held.byNetwork[$0] } ?? 0
            if new > old {
                guard new <= Self.room(limit, held: held.total, own: old, small: small) else { return false }
                if network != nil, ofNetwork - old + new > limitPerAddress { return false }
            }
            held.total += new - old
            if let network {
                let left = ofNetwork + new - old
                held.byNetwork[network] = left > 0 ? left : nil
            }
            return true
        }
    }
}

/// Bytes of a budget, given back when this ends.
public struct MemoryReservation: ~Copyable {
    private let budget: MemoryBudget
    let network: RemoteAddress.Network?
    public private(set) var bytes: Int

    fileprivate init(budget: MemoryBudget, network: RemoteAddress.Network?, bytes: Int) {
        self.budget = budget
        self.network = network
        self.bytes = bytes
    }

    /// False when there is no room for so much more; nothing changes then. Less is always possible.
    public mutating func resize(to count: Int) -> Bool {
        guard count != bytes else { return true }
        guard budget.change(from: bytes, to: count, network) else { return false }
        bytes = count
        return true
    }

    deinit { _ = budget.change(from: bytes, to: 0, network) }
}

extension Limits {
    /// The budget of answers.
    public var answerBudget: MemoryBudget {
        MemoryBudget(limit: answerMemory, limitPerAddress: answerMemoryPerAddress, small: smallMessage)
    }
}
