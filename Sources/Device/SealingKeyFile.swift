import Audit
import Foundation
import LocalAI

/// The file with the key that seals the words in the files beside it, readable by its owner only.
///
/// The key protects copies of the cache or the outbox that lack this file, for example in backups or synchronised
/// folders. Whoever can read all files of the person can read this one too.
struct SealingKeyFile {
    let path: String

    /// Returns the key; creates it if there is none.
    /// - Throws: `PrivateFileError`, such as `unreadable` for a file without a valid key.
    func loadOrCreate() throws(PrivateFileError) -> SealingKey {
        if !FileManager.default.fileExists(atPath: path) { try create() }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .unreadable }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let bytes = try? file.read(upToCount: 64), let key = SealingKey([UInt8](bytes)) else { throw .unreadable }
        return key
    }

    /// Writes a new key to a temporary file, and links it to the path. If another process was faster, its key is kept.
    private func create() throws(PrivateFileError) {
        let temporaryPath = "\(path).\(getpid())"
        unlink(temporaryPath)
        let descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unwritable }
        defer { unlink(temporaryPath) }
        var random = SystemRandomNumberGenerator()
        let bytes: [UInt8] = (0..<32).map { _ in random.next() }
        let isWritten = write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, link(temporaryPath, path) == 0 || errno == EEXIST else { throw .unwritable }
    }

    func remove() throws(PrivateFileError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .unwritable }
    }
}
