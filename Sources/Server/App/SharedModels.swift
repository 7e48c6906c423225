import Domain
import ModelProviders
import Synchronization

/// The state of models that all loops of an instance share: the calls that are under way, and the health of providers.
final class SharedModels: Sendable {
    /// Questions under way: eight at once, two of one person.
    let questions = TurnCounter<UserID>(limit: 8, limitPerKey: 2, queueLimit: 32)
    /// Checks of people's keys and endpoints: eight at once, one of one person.
    let checks = TurnCounter<UserID>(limit: 8, limitPerKey: 1, queueLimit: 32)
    /// The server's gateway.
    let gateway = ProviderHealth()
    /// The providers of people's keys, by a digest of the sealed key.
    private let keys = Mutex<[[UInt8]: ProviderHealth]>([:])

    /// Returns the health of a key's provider. It is remembered for a few hundred keys at a time.
    func health(ofKey digest: [UInt8]) -> ProviderHealth {
        keys.withLock { keys in
            if let known = keys[digest] { return known }
            if keys.count >= 256 { keys.removeAll() }
            let new = ProviderHealth()
            keys[digest] = new
            return new
        }
    }
}
