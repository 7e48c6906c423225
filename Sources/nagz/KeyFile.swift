import Audit
import Foundation

/// Reads files of secret keys. It refuses a file that other users can access, and a hexadecimal key of 32 bytes or
/// more with fewer than eight different bytes.
enum KeyFile {
    /// The maximum number of bytes of a file.
    private static let maxBytes = 65_536
    /// The minimum number of different bytes in a random key. Random keys of 32 bytes have about 30.
    private static let minDifferentBytes = 8

    /// Returns the text of a file.
    /// - Parameter name: the file's name in errors, such as `the token key file`.
    static func read(_ path: String, name: String) throws -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Stop(.configuration, "\(name) “\(path)” cannot be read") }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // The status is that of the opened file, so that the file cannot be replaced after the check.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR,
            let bytes = try? file.read(upToCount: maxBytes + 1), let text = String(data: bytes, encoding: .utf8)
        else { throw Stop(.configuration, "\(name) “\(path)” cannot be read") }
        guard bytes.count <= maxBytes else {
            throw Stop(.configuration, "\(name) “\(path)” is larger than 64 KB: it is no file of keys")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw Stop(.configuration, "\(name) “\(path)” is open to users other than its owner: run chmod 600 on it")
        }
        guard !text.split(whereSeparator: \.isWhitespace).contains(where: isGuessable) else {
            throw Stop(
                .configuration,
                "\(name) “\(path)” holds a key that can be guessed: make 32 random bytes, as “openssl rand -hex 32” does"
            )
        }
        return text
    }

    /// Returns whether a word is a key in hexadecimal digits that is not random. A key has 32 bytes or more.
    private static func isGuessable(_ word: Substring) -> Bool {
        guard let key = bytes(hexadecimal: word), key.count >= 32 else { return false }
        return Set(key).count < minDifferentBytes
    }
}
