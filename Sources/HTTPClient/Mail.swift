/// A mail to send to a relay (RFC 5321, RFC 5322).
public struct Mail: Sendable {
    /// The sender's address, without a name and without brackets.
    public var from: String
    /// The recipient's address, in the same form.
    public var to: String
    /// The names and values of further header fields, sent in this order after `From` and `To`. A value is ASCII, at
    /// most 900 characters.
    public var headers: [(name: String, value: String)]
    /// The text: lines of ASCII, at most 900 characters each.
    public var text: String

    public init(from: String, to: String, headers: [(name: String, value: String)], text: String) {
        (self.from, self.to, self.headers, self.text) = (from, to, headers, text)
    }

    /// Whether addresses, fields and lines are within their limits, and no part of the mail could be read as another
    /// field, another recipient or another command.
    var isWellFormed: Bool {
        [from, to].allSatisfy { address in
            address.contains("@") && address.utf8.count <= 254
                && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"<>()\",;:\\".utf8.contains($0) }
        }
            && headers.allSatisfy { name, value in
                !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
                    && value.utf8.count <= 900 && value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
            }
            && text.utf8.allSatisfy { $0 == 0x0A || $0 >= 0x20 && $0 < 0x7F }
            && text.split(separator: "\n").allSatisfy { $0.utf8.count <= 900 }
    }

    /// The header fields and the text, with CR LF at the end of each line.
    var bytes: [UInt8] {
        let head = [("From", from), ("To", to)] + headers
        let lines =
            head.map { "\($0.0): \($0.1)" } + [""]
            + text.split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    }
}

/// A server that accepts mails and forwards them.
public struct MailRelay: Sendable {
    /// The URL without the user: `smtps:` for TLS from the beginning, `smtp:` for STARTTLS.
    public let url: String
    /// The user who signs in to the relay; nil if the URL names none.
    let user: String?
    var password: String?
    /// Whether STARTTLS is required: for `smtp:`, except for a relay on this machine.
    let requiresSTARTTLS: Bool

    /// - Parameter url: `smtp[s]://[USER@]HOST[:PORT]`.
    /// - Returns: nil for anything else, and for a URL that contains a password.
    public init?(url: String, password: String? = nil) {
        guard let scheme = url.firstRange(of: "://"), url.utf8.count <= 1_000,
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        let name = url[..<scheme.lowerBound].lowercased()
        let parts = url[scheme.upperBound...].split(separator: "@", omittingEmptySubsequences: false)
        guard name == "smtp" || name == "smtps", let host = parts.last, !host.isEmpty,
            !host.contains(where: { "/?#".contains($0) }), parts.count <= 3,
            // A user may be an address.
            parts.dropLast().allSatisfy({ !$0.isEmpty && !$0.contains(":") && !$0.contains("/") })
        else { return nil }
        self.url = "\(name)://\(host)"
        user = parts.count == 1 ? nil : parts.dropLast().joined(separator: "@")
        self.password = password
        let address = host.hasPrefix("[") ? host.dropFirst().prefix { $0 != "]" } : host.prefix { $0 != ":" }
        requiresSTARTTLS = name == "smtp" && address != "127.0.0.1" && address != "::1" && address != "localhost"
    }
}
