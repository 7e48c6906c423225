import Audit
import Foundation

/// The keys that sign access tokens, from the file named by NAGZ_TOKEN_KEY_FILE.
enum TokenKeys {
    static func read() throws -> [[UInt8]] {
        guard let path = ProcessInfo.processInfo.environment["NAGZ_TOKEN_KEY_FILE"] else {
            throw Stop(.configuration, "no token key: set NAGZ_TOKEN_KEY_FILE to a file with 64 hexadecimal digits")
        }
        let text = try KeyFile.read(path, name: "the token key file")
        let keys = text.split(whereSeparator: \.isNewline).map { bytes(hexadecimal: $0) ?? [] }
        guard !keys.isEmpty, keys.allSatisfy({ $0.count >= 32 }) else {
            throw Stop(.configuration, "“\(path)” must hold 64 or more hexadecimal digits on each line")
        }
        return keys
    }
}
