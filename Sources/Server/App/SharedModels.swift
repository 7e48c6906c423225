import Domain
import ModelProviders
import Synchronization

/// The state of models that all loops of an instance share: the running calls, and the health of providers.
final class SharedModels: Sendable {
    /// The running questions: eight at once, two of one person.
    let questionTurns = SharedTurnQueue<UserID>(limit: 8, limitPerKey: 2, queueLimit: 32)
    /// The running checks of people's keys and endpoints: eight at once, one of one person.
    let checkTurns = SharedTurnQueue<UserID>(limit: 8, limitPerKey: 1, queueLimit: 32)
    /// The health of the server's gateway.
    let gatewayHealth = ProviderHealth()
    /// The health of the providers of people's keys, by a digest of the sealed key.
    private let healthByKey = Mutex<[[UInt8]: ProviderHealth]>([:])

    /// Returns the health of a key's provider. It is remembered for a few hundred keys at a time.
    func health(ofKey digest: [UInt8]) -> ProviderHealth {
        healthByKey.withLock { healthByKey in
            if let known = healthByKey[digest] { return known }
            if healthByKey.count >= 256 { healthByKey.removeAll() }
            let new = ProviderHealth()
            healthByKey[digest] = new
            return new
        }
    }
}
