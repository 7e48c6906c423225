import Foundation

/// Writes files that only their owner can read.
enum PrivateFile {
    /// Writes to a temporary file, and renames it. If the process dies, the path has either the old or the new file.
    static func write(_ bytes: [UInt8], to path: String) throws(PrivateFileError) {
        let temporaryPath = "\(path).\(getpid())"
        let descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unwritable }
        let isWritten =
            fchmod(descriptor, 0o600) == 0 && Foundation.write(descriptor, bytes, bytes.count) == bytes.count
            && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(temporaryPath, path) == 0 else {
            unlink(temporaryPath)
            throw .unwritable
        }
    }
}

/// A reason why a private file cannot be used.
public enum PrivateFileError: Error, Hashable, Sendable { case unreadable, unwritable }
