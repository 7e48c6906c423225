/// An entity tag for conditional requests (RFC 9110 §8.8.3).
///
/// Make a tag from a version number if there is one, else from the content. Tags are weak if the content may be
/// compressed, because both forms of a response share one tag. Only content that is never compressed may have a strong
/// one.
public struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// The tag without quotes and without `W/`.
    public let opaqueTag: String
    public let isStrong: Bool

    /// Creates a weak tag.
    /// - Parameter opaqueTag: visible ASCII without quotes and commas.
    public init(_ opaqueTag: String) { self.init(opaqueTag, isStrong: false) }

    /// Creates a strong tag, which MUST be equal only if the content is equal, byte for byte.
    /// - Parameter opaqueTag: visible ASCII without quotes and commas.
    public init(strong opaqueTag: String) { self.init(opaqueTag, isStrong: true) }

    private init(_ opaqueTag: String, isStrong: Bool) {
        self.opaqueTag = opaqueTag
        self.isStrong = isStrong
    }

    /// Computes a weak tag from content: 64 bits of FNV-1a and the length. Not collision-resistant: do not use it for
    /// content that an attacker controls.
    public init(over content: [UInt8]) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in content { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        self.init(String(hash, radix: 16) + "-" + String(content.count, radix: 16))
    }

    public var description: String { isStrong ? "\"\(opaqueTag)\"" : "W/\"\(opaqueTag)\"" }

    /// Returns whether If-None-Match contains this tag, by weak comparison, or `*` (RFC 9110 §13.1.2).
    public func matchesIfNoneMatch(of headers: Headers) -> Bool {
        let wanted = Array("\"\(opaqueTag)\"".utf8)
        var isListed = false
        headers.forEachListElement(of: "if-none-match") { tag in
            let isWeak = tag.count > 2 && tag[0] == UInt8(ascii: "W") && tag[1] == UInt8(ascii: "/")
            let quoted = tag.extracting((isWeak ? 2 : 0)..<tag.count)
            if quoted.equals(wanted.span) || (tag.count == 1 && tag[0] == UInt8(ascii: "*")) { isListed = true }
        }
        return isListed
    }
}

extension Response {
    /// Returns the response with the tag. A 200 becomes a 304 without content if the request is a GET or HEAD whose
    /// If-None-Match contains the tag or `*`.
    public func taggedOrNotModified(_ tag: EntityTag, for request: borrowing Request) -> Response {
        var tagged = self
        tagged.fields.append(HeaderField("etag", tag.description))
        guard status == .ok, request.method == .get || request.method == .head,
            tag.matchesIfNoneMatch(of: request.headers)
        else { return tagged }
        tagged.status = .notModified
        tagged.mediaType = nil
        tagged.body = .empty
        return tagged
    }
}
