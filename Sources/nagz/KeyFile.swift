import Audit
import Foundation

/// A file of secret keys. It is read only if nobody but its owner may read it, and none of its keys is easy to guess.
enum KeyFile {
    private static let longest = 65_536
    /// The smallest number of different bytes in a random key. Random keys of 32 bytes have about 30; a key with fewer
    /// than this was typed, not generated.
    private static let fewestDifferentBytes = 8

    /// - Parameter name: names the file in errors, such as `the token key file`.
    static func read(_ path: String, name: String) throws -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Stop(.configuration, "\(name) “\(path)” cannot be read") }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // The status of the opened file, which nobody can replace any more.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR,
            let bytes = try? file.read(upToCount: longest), let text = String(data: bytes, encoding: .utf8)
        else { throw Stop(.configuration, "\(name) “\(path)” cannot be read") }
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

    /// Whether a word is a key in hexadecimal digits that is not random.
    private static func isGuessable(_ word: Substring) -> Bool {
        guard let key = bytes(hexadecimal: word), key.count >= 32 else { return false }
        return Set(key).count < fewestDifferentBytes
    }
}
