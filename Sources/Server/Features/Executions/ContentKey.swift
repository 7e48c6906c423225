import Audit
import Contract

extension Services {
    /// The key for the digests of texts in records; nil for throw-away data, whose records have no digests.
    var contentKey: HMACKey? { auditKeyring?.masterKeys.first.map { HMACKey($0.derivedKey(label: "content")) } }

    /// Returns the keyed digest of what a draft does; nil without a key. The words are few and short, so an unkeyed
    /// digest could be compared with guesses.
    func hash(of body: DraftBody) -> String? {
        contentKey.map { hexadecimal($0.authenticationCode(of: body.jsonBytes)) }
    }
}
