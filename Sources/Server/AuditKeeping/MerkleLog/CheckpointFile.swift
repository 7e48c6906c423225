import Audit
import Foundation
import Glibc

/// The newest checkpoint of the audit log that this instance signed or saw, in a file outside the database. A restarted
/// server checks with it that the database's log is still the one it signed.
///
/// The file holds one signed note and is replaced as a whole: if the process dies during a write, it holds the old note
/// or the new one. Instances on one machine may share a file. All calls block.
public struct CheckpointFile: Sendable {
    /// A reason for which the file cannot be used.
    public enum Fault: Error, CustomStringConvertible {
        case unreadable(path: String, reason: String)
        /// The file, its folder or the lock file beside it cannot be written.
        case unwritable(path: String, reason: String)
        /// The file does not hold a note with a checkpoint, or is too large.
        case malformed(path: String)
        /// The file holds a checkpoint of the log `origin`, not of the log of the audit key file.
        case otherLog(path: String, origin: String)

        public var description: String {
            switch self {
            case .unreadable(let path, let reason): "the checkpoint file “\(path)” cannot be read: \(reason)"
            case .unwritable(let path, let reason):
                "the checkpoint file “\(path)” cannot be written: \(reason); "
                    + "make its folder writable, or name another file in NAGZ_AUDIT_CHECKPOINT_FILE"
            case .malformed(let path): "“\(path)” does not hold a checkpoint of an audit log: restore it"
            case .otherLog(let path, let origin):
                "“\(path)” holds a checkpoint of another log, \(origin), than the audit key file: "
                    + "name this log's file in NAGZ_AUDIT_CHECKPOINT_FILE"
            }
        }
    }

    /// A checkpoint and the signed note that contains it.
    struct Entry: Hashable, Sendable {
        let note: String
        let checkpoint: Checkpoint

        init(note: String, checkpoint: Checkpoint) {
            self.note = note
            self.checkpoint = checkpoint
        }

        /// Parses a note without verifying its signatures: the file is as trusted as the keys beside it, and keys are
        /// rotated.
        init?(note text: String) {
            guard let note = SignedNote(text), let checkpoint = Checkpoint(text: note.text) else { return nil }
            self.init(note: text, checkpoint: checkpoint)
        }
    }

    /// The limit of the file's size, larger than a note with 64 signatures.
    private static let sizeLimit = 1 << 16

    public let path: String

    public init(path: String) { self.path = path }

    /// The names of the other checkpoint files in its folder, those of other instances: `audit-9800.checkpoint` beside
    /// `audit.checkpoint`.
    public var siblings: [String] {
        let own = URL(filePath: path).lastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".checkpoint") && $0 != own }.sorted()
    }

    /// Checks that the file can be replaced, by creating a file beside it for a moment, and that it belongs to the log
    /// of that name if it exists.
    public func checkReplaceable(origin: String) throws(Fault) {
        try withFileLock { () throws(Fault) -> Void in
            let probe = try open(path + ".new", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW)
            close(probe)
            unlink(path + ".new")
        }
        _ = try read(origin: origin)
    }

    /// Checks, without a change, that the user of this process may replace the file, and that it belongs to the log of
    /// that name.
    /// - Returns: the content of the file; nil when there is none.
    func inspect(origin: String) throws(Fault) -> Entry? {
        for place in [folder, path + ".lock"] where access(place, W_OK) != 0 {
            guard errno == ENOENT, place != folder else { throw .unwritable(path: path, reason: Self.lastErrorText()) }
        }
        return try read(origin: origin)
    }

    /// The folder of the file.
    var folder: String {
        let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        return folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }

    private func read(origin: String) throws(Fault) -> Entry? {
        guard let entry = try read() else { return nil }
        guard entry.checkpoint.origin == origin else { throw .otherLog(path: path, origin: entry.checkpoint.origin) }
        return entry
    }

    /// Reads the content of the file; nil when there is none.
    func read() throws(Fault) -> Entry? {
        guard let bytes = try readBytes() else { return nil }
        guard bytes.count < Self.sizeLimit, let entry = Entry(note: String(decoding: bytes, as: UTF8.self)) else {
            throw .malformed(path: path)
        }
        return entry
    }

    /// Reads the first `sizeLimit` bytes of the file; nil when there is none.
    private func readBytes() throws(Fault) -> [UInt8]? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .unreadable(path: path, reason: Self.lastErrorText())
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.sizeLimit)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .unreadable(path: path, reason: Self.lastErrorText()) }
        return Array(bytes.prefix(count))
    }

    /// Writes the new entry if the file still holds the entry that was read before, or if there is no file.
    /// - Returns: the file's content afterwards: the new entry, or the one that another instance wrote in the meantime.
    func replaceIfUnchanged(_ old: Entry?, by new: Entry) throws(Fault) -> Entry {
        try withFileLock { () throws(Fault) -> Entry in
            let current = try read()
            if let current, current != old { return current }
            try write(Array(new.note.utf8), to: path)
            return new
        }
    }

    /// Replaces the file whatever it holds, and keeps the old one beside it with the suffix `.replaced`.
    func overwrite(with new: Entry) throws(Fault) {
        try withFileLock { () throws(Fault) -> Void in
            if let old = try readBytes() { try write(old, to: path + ".replaced") }
            try write(Array(new.note.utf8), to: path)
        }
    }

    /// Writes a new file, syncs it to disk, and renames it to its target.
    private func write(_ bytes: [UInt8], to target: String) throws(Fault) {
        // The remains of an interrupted write may be readable by others.
        unlink(path + ".new")
        let descriptor = try open(path + ".new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW)
        let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        let reason = Self.lastErrorText()
        close(descriptor)
        guard isWritten else { throw .unwritable(path: path, reason: reason) }
        guard rename(path + ".new", target) == 0 else { throw .unwritable(path: path, reason: Self.lastErrorText()) }
        // The rename is on disk only after the folder is synced.
        let folderDescriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folderDescriptor >= 0 else { return }
        fsync(folderDescriptor)
        close(folderDescriptor)
    }

    /// Runs `body` while no other instance uses the file.
    private func withFileLock<Value>(_ body: () throws(Fault) -> Value) throws(Fault) -> Value {
        let descriptor = try open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW)
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .unwritable(path: path, reason: Self.lastErrorText()) }
        }
        return try body()
    }

    /// Opens a file that only its owner may read.
    private func open(_ path: String, _ flags: Int32) throws(Fault) -> Int32 {
        let descriptor = Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw .unwritable(path: self.path, reason: Self.lastErrorText()) }
        return descriptor
    }

    private static func lastErrorText() -> String { String(cString: strerror(errno)) }
}
