import Audit
import Contract

extension Services {
    /// The key of the digests of texts that records have; nil for throw-away data, whose audit log keeps no digests.
    var contentKey: HMACKey? { auditKeyring?.masters.first.map { HMACKey($0.derivedKey(label: "content")) } }

    /// The digest of what a draft does. Keyed, because its words are few and short: plain digests could be compared with
    /// guesses.
    func hash(of body: DraftBody) -> String? { contentKey.map { hexadecimal($0.code(of: body.jsonBytes)) } }
}
