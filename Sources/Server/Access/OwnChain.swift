import Contract
import Domain
import Postgres

extension Account {
    /// The chain of the account's own acts: that of its family, or the one outside families.
    var chain: FamilyID { family ?? .outside }
}

extension Services {
    /// Commits a decision about the caller's own account in the account's chain. If the account joins or leaves a family
    /// before the decision, `decide` runs in the new chain.
    /// - Parameters:
    ///   - acceptsWaiting: whether an account that waits for a guardian is accepted too.
    ///   - decide: gets the account, and the newest sequence number of its chain. It may run several times.
    /// - Throws: what `Access.account` and `Ledger.write` throw.
    func writeToOwnChain<Answer: WireContent>(
        _ caller: Caller, acceptsWaiting: Bool = false,
        _ decide: (Account, _ seq: Int64, any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        while true {
            let chain = try await access.account(caller, acceptsWaiting: acceptsWaiting, database).chain
            do {
                return try await ledger.write(caller, in: chain) { queries in
                    let seq = try await Ledger.newestSequenceNumber(of: chain, queries)
                    let account = try await access.account(caller, acceptsWaiting: acceptsWaiting, queries)
                    guard account.chain == chain else { throw ChainHasChanged() }
                    return try await decide(account, seq, queries)
                }
            } catch is ChainHasChanged {}
        }
    }
}

/// The error that ends a write because the account has another chain now.
private struct ChainHasChanged: Error {}
