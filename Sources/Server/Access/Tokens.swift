import Audit
import CSodium
import Contract
import Domain
import Foundation
import JSON

/// Creates and verifies access tokens, which are JWTs (RFC 7519) signed with HMAC-SHA-256 and nothing else, and creates
/// refresh tokens.
public struct Tokens: Sendable {
    public struct Claims: Hashable, Sendable {
        public let user: UserID
        public let session: SessionID

        public init(user: UserID, session: SessionID) {
            self.user = user
            self.session = session
        }
    }

    public static let accessLifetime = Timestamp.Span.hours(24)
    /// The time after which an unused refresh token expires, and its session with it. An administrator's session
    /// expires earlier.
    public static let refreshLifetime = Timestamp.Span.days(60)
    /// The time for which a replaced refresh token still gives the same new pair: one client may use it in two requests
    /// at the same time.
    public static let refreshGrace = Timestamp.Span.seconds(60)

    private static let issuer = "nagz"
    private static let audience = "nagz-api"

    private struct Key: Sendable {
        let secret: [UInt8]
        /// The JWT header of this key's tokens, in base64url. A token that has the header of no key is not valid.
        let header: String
    }

    /// The keys, newest first. The first one signs; all of them verify, so that a key can be rotated without signing
    /// everybody out.
    private let keys: [Key]
    /// Whether tokens of the form `dev:<user-uuid>` are accepted; for development only.
    private let acceptsDevelopmentTokens: Bool

    /// - Parameter keys: 32 bytes or more each, the newest first.
    public init(keys: [[UInt8]], acceptsDevelopmentTokens: Bool = false) {
        precondition(!keys.isEmpty && keys.allSatisfy { $0.count >= 32 }, "a token key has 32 bytes or more")
        self.keys = keys.map { secret in
            let keyID = base64URL(Array(hmacSHA256(Array("key id".utf8), key: secret).prefix(6)))
            let header = #"{"alg":"HS256","kid":"\#(keyID)","typ":"at+jwt"}"#
            return Key(secret: secret, header: base64URL(Array(header.utf8)))
        }
        self.acceptsDevelopmentTokens = acceptsDevelopmentTokens
    }

    // MARK: Access tokens

    /// Returns a token for the session, valid for `accessLifetime` from `now`. The same arguments give the same token.
    public func accessToken(_ claims: Claims, at now: Timestamp) -> String {
        let content = JSONWriter.document { json in
            json.object { json in
                json.field("iss", Self.issuer)
                json.field("aud", Self.audience)
                json.field("sub", claims.user)
                json.field("sid", claims.session)
                json.key("iat")
                json.integer(now.seconds)
                json.key("exp")
                json.integer((now + Self.accessLifetime).seconds)
            }
        }
        let signingInput = keys[0].header + "." + base64URL(content)
        return signingInput + "." + base64URL(hmacSHA256(Array(signingInput.utf8), key: keys[0].secret))
    }

    /// Returns the claims of a signed token that has not expired.
    /// - Throws: 401, with the same message for every fault of the token.
    public func verify(_ token: String, at now: Timestamp) throws(APIError) -> Claims {
        let verified = try readSigned(token)
        guard now.seconds < verified.expiry else { throw APIError.accessTokenIsInvalid }
        return verified.claims
    }

    /// Returns the session that a signed token names, even if the token has expired.
    func sessionIgnoringExpiry(of token: String) throws(APIError) -> SessionID { try readSigned(token).claims.session }

    /// Returns the claims of a signed token, or of a development token if these are accepted. It does not check whether
    /// the token has expired.
    fileprivate func read(_ token: String) throws(APIError) -> VerifiedTokens.Entry {
        if acceptsDevelopmentTokens, token.hasPrefix("dev:"), let user = UserID(token.dropFirst(4)) {
            return VerifiedTokens.Entry(user: user, session: .development, expiry: .max)
        }
        let (claims, expiry) = try readSigned(token)
        return VerifiedTokens.Entry(user: claims.user, session: .signedIn(claims.session), expiry: expiry)
    }

    /// Returns the claims of a signed token, expired or not.
    private func readSigned(_ token: String) throws(APIError) -> (claims: Claims, expiry: Int64) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard token.utf8.count <= 2_048, token.isASCII, parts.count == 3,
            let key = keys.first(where: { $0.header == parts[0] }),
            let signature = bytes(base64URL: parts[2]), signature.count == 32,
            areEqual(
                signature,
                hmacSHA256(Array(token.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count)), key: key.secret)),
            let payload = bytes(base64URL: parts[1]), let json = try? JSONValue(parsing: payload.span),
            let claims = json.objectValue, claims["iss"]?.stringValue == Self.issuer,
            claims["aud"]?.stringValue == Self.audience,
            let user = claims["sub"]?.stringValue.flatMap({ UserID($0) }),
            let session = claims["sid"]?.stringValue.flatMap({ SessionID($0) }),
            let expiry = claims["exp"]?.integerValue
        else { throw APIError.accessTokenIsInvalid }
        return (Claims(user: user, session: session), expiry)
    }

    // MARK: Refresh tokens

    /// Returns the stored form of a refresh token: its SHA-256.
    public static func refreshHash(_ token: String) -> [UInt8] { sha256(Array(token.utf8)) }

    /// Returns the successors of `token`, one for each key, the newest key's first. They are derived from the keys, so
    /// that nothing has to be stored before a successor is used.
    public func refreshSuccessors(of token: String) -> [String] {
        keyedHashes(of: "refresh successor \(token)").map(base64URL)
    }

    /// Returns keyed digests to store in place of a text: one by each key, the newest first. Texts of different uses
    /// MUST begin differently.
    func keyedHashes(of text: String) -> [[UInt8]] { keys.map { hmacSHA256(Array(text.utf8), key: $0.secret) } }

    /// Returns the first refresh token of a session, from 32 random bytes.
    public static func makeRefreshToken(_ random: any Randomness) -> String { base64URL(random.bytes(32)) }
}

/// The tokens that a loop has verified. A valid signature stays valid, so only the expiry is checked again.
package final class VerifiedTokens {
    private static let maxEntries = 8_192

    /// The token's claims, and its expiry in seconds since 1970.
    struct Entry {
        let user: UserID
        let session: Caller.Session
        let expiry: Int64
    }

    private let tokens: Tokens
    /// The verified tokens, all of them ASCII: Swift compares strings by canonical equivalence, which for ASCII is byte
    /// by byte. Otherwise a token with U+212A in place of K would be found as well.
    private var entries: [String: Entry] = [:]

    init(_ tokens: Tokens) { self.tokens = tokens }

    /// Returns the claims of a token that has not expired. A token that was verified before is not verified again.
    /// - Throws: 401, with the same message for every fault of the token.
    func verify(_ token: String, at now: Timestamp) throws(APIError) -> Entry {
        guard token.isASCII else { throw APIError.accessTokenIsInvalid }
        if let verified = entries[token], now.seconds < verified.expiry { return verified }
        let verified = try tokens.read(token)
        guard now.seconds < verified.expiry else { throw APIError.accessTokenIsInvalid }
        if entries.count >= Self.maxEntries { entries.removeAll(keepingCapacity: true) }
        entries[token] = verified
        return verified
    }
}

extension String {
    fileprivate var isASCII: Bool {
        var bytes = utf8Span
        return bytes.checkForASCII()
    }
}

// MARK: libsodium

/// Returns whether two byte strings are equal. The time depends on their length only.
func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && sodium_memcmp(left, right, left.count) == 0
}

/// Encodes bytes as Base64 with the URL-safe alphabet and without padding (RFC 4648, section 5).
package func base64URL(_ bytes: [UInt8]) -> String {
    var text = [CChar](repeating: 0, count: bytes.count / 3 * 4 + 8)
    sodium_bin2base64(&text, text.count, bytes, bytes.count, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Decodes base64url; nil unless the text is exactly what `base64URL` writes for those bytes.
func bytes(base64URL text: Substring) -> [UInt8]? {
    let encoded = Array(text.utf8).map { CChar(bitPattern: $0) }
    var bytes = [UInt8](repeating: 0, count: encoded.count)
    var count = 0
    guard
        sodium_base642bin(
            &bytes, bytes.count, encoded, encoded.count, nil, &count, nil,
            sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0
    else { return nil }
    return Array(bytes.prefix(count))
}
