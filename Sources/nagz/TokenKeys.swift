import Audit
import Foundation

/// The keys that sign access tokens, from the file that `token-key-file` names.
enum TokenKeys {
    static func read(_ given: GivenOptions) throws -> [[UInt8]] {
        guard let keys = try given[Options.tokenKeys] else {
            throw Stop(.configuration, "no token key: set NAGZ_TOKEN_KEY_FILE to a file with 64 hexadecimal digits")
        }
        return keys
    }

    @Sendable
    static func read(_ path: String) throws -> [[UInt8]] {
        let text = try KeyFile.read(path, name: "the token key file")
        let keys = text.split(whereSeparator: \.isNewline).map { bytes(hexadecimal: $0) ?? [] }
        guard !keys.isEmpty, keys.allSatisfy({ $0.count >= 32 }) else {
            throw Stop(.configuration, "“\(path)” must hold 64 or more hexadecimal digits on each line")
        }
        return keys
    }
}
