import Foundation

/// Files that their owner alone can read.
enum PrivateFile {
    /// Writes to a new file and renames it: if the process dies, the old or the new file is there.
    static func write(_ bytes: [UInt8], to path: String) throws(PrivateFileError) {
        let draft = "\(path).\(getpid())"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unwritable }
        let isWritten =
            fchmod(descriptor, 0o600) == 0 && Foundation.write(descriptor, bytes, bytes.count) == bytes.count
            && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(draft, path) == 0 else {
            unlink(draft)
            throw .unwritable
        }
    }
}

/// A reason for which a private file cannot be used.
public enum PrivateFileError: Error, Hashable, Sendable { case unreadable, unwritable }
