import CSodium
import Contract
import Foundation
import Reactor

/// argon2id (RFC 9106) by libsodium, on a small pool of threads: each hash takes tens of milliseconds and much memory.
///
/// The hash is of the secret's compatibility form (NFKC, as NIST SP 800-63B asks), so that it does not depend on how a
/// keyboard composes characters.
public struct PasswordHashing: Sendable {
    /// The cost of one hash.
    public struct Cost: Sendable {
        let passes: UInt64
        let memoryBytes: Int

        /// The cost in production: 64 MiB and two passes.
        public static let interactive = Cost(passes: 2, memoryBytes: 64 << 20)
        /// The smallest cost that argon2id allows; for tests only.
        public static let testing = Cost(passes: 1, memoryBytes: 8 << 10)
    }

    /// The purpose of a hash. Each purpose has a lane of the pool. The lanes take turns, and so do the clients of a
    /// lane: many sign-ups do not delay a sign-in.
    enum Purpose: Int, CaseIterable {
        /// A sign-in with a password, from a network address or on a device that the account has used before.
        case knownSignIn
        /// Any other sign-in with an email address and a password.
        case signIn
        /// A sign-in with a family code and a PIN.
        case childSignIn
        /// A password or PIN that is set, changed or confirmed, other than at a sign-up.
        case credentials
        case signUp
    }

    private let pool: BlockingPool
    private let cost: Cost
    /// The hash that a password is compared with when there is no account, so that the response takes as long as for an
    /// existing account.
    private let dummyHash: String

    /// Starts the hashing threads, which share a queue.
    /// - Parameter queueLimitPerPurpose: the maximum number of waiting hashes. If 32 hashes of one purpose wait, and
    ///   none of another, they take two seconds. If 32 wait for every purpose, they take ten seconds.
    static func startPool(queueLimitPerPurpose: Int) throws(SystemError) -> BlockingPool {
        try BlockingPool(
            name: "nagz-hash", threads: 2, lanes: Purpose.allCases.count, queueLimitPerLane: queueLimitPerPurpose)
    }

    /// - Parameter pool: has one lane for each `Purpose`.
    public init(_ pool: BlockingPool, cost: Cost = .interactive) {
        self.pool = pool
        self.cost = cost
        // No password has this hash. Checking against it takes as long as against a real one, and fails.
        dummyHash =
            "$argon2id$v=19$m=\(cost.memoryBytes >> 10),t=\(cost.passes),p=1$"
            + "bm9ib2R5IGhhcyB0aGlzMQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    }

    /// Returns the hash of a password or PIN, as text to store.
    /// - Throws: 503 when too many hashes wait already, and when memory is short.
    func hash(_ secret: String, _ purpose: Purpose, for client: some Hashable & Sendable) async throws -> String {
        let cost = cost
        let normalizedSecret = Self.normalForm(of: secret)
        guard let hash = try await run(purpose, client, { Self.hash(bytesOf: normalizedSecret, cost) }) else {
            throw APIError.noMemoryForSignIn
        }
        return hash
    }

    /// The form in which a secret matches a stored hash.
    enum Match {
        case none
        /// The secret matches in its compatibility form.
        case normalized
        /// The secret matches as it was typed: the hash is of the time before secrets were normalised, and should be
        /// replaced.
        case asTyped
    }

    /// Returns the form in which the secret matches the stored hash. Without a stored hash it takes as long, and
    /// returns `.none`.
    /// - Throws: 503 when too many hashes wait already.
    func match(
        of secret: String, with storedHash: String?, _ purpose: Purpose, for client: some Hashable & Sendable
    ) async throws -> Match {
        let (hash, normalizedSecret) = (storedHash ?? dummyHash, Self.normalForm(of: secret))
        let match = try await run(purpose, client) {
            if crypto_pwhash_str_verify(hash, normalizedSecret, UInt64(normalizedSecret.utf8.count)) == 0 {
                return Match.normalized
            }
            guard !normalizedSecret.utf8.elementsEqual(secret.utf8) else { return .none }
            return crypto_pwhash_str_verify(hash, secret, UInt64(secret.utf8.count)) == 0 ? .asTyped : .none
        }
        return storedHash == nil ? .none : match
    }

    /// Returns whether the secret matches the stored hash in any form. Without a stored hash it takes as long, and
    /// returns false.
    func matches(
        _ secret: String, against storedHash: String?, _ purpose: Purpose, for client: some Hashable & Sendable
    ) async throws -> Bool {
        try await match(of: secret, with: storedHash, purpose, for: client) != .none
    }

    private static func normalForm(of secret: String) -> String {
        secret.utf8.allSatisfy { $0 < 0x80 } ? secret : secret.precomposedStringWithCompatibilityMapping
    }

    private func run<Value: Sendable>(
        _ purpose: Purpose, _ client: some Hashable & Sendable, _ work: @escaping @Sendable () -> Value
    ) async throws -> Value {
        do {
            return try await pool.run(lane: purpose.rawValue, client: client.hashValue, work)
        } catch {
            throw APIError.tooManySignInsAtOnce
        }
    }

    /// Returns the hash of the secret's bytes as they are, without normalisation; nil when there is not enough memory.
    static func hash(bytesOf secret: String, _ cost: Cost) -> String? {
        var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
        guard
            crypto_pwhash_str_alg(
                &text, secret, UInt64(secret.utf8.count), cost.passes, cost.memoryBytes, crypto_pwhash_ALG_ARGON2ID13)
                == 0
        else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
