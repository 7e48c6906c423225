import Audit
import Glibc
import HTTPClient

/// The downloaded part of a model's file, locked by one process. It is used on one event loop.
final class ModelPart {
    /// The number of downloaded bytes.
    private(set) var byteCount: Int64
    /// The reason why a piece of the current response was refused; nil if none was.
    private(set) var fault: ModelStoreError?

    private let path: String
    private let model: ModelFile
    private let progress: (Int64) -> Void
    private let descriptor: Int32
    /// The offset after the last byte that the current response may bring.
    private var end: Int64 = 0
    /// Whether the first piece of the response has arrived.
    private var hasBegun = false

    /// Opens and locks the file, and creates it if it is missing. A file that is longer than the model's is emptied.
    /// - Throws: `busy` if another process has locked, completed or deleted it; `file`.
    init(_ path: String, _ model: ModelFile, _ progress: @escaping (Int64) -> Void) throws(ModelStoreError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(errno) }
        self.descriptor = descriptor
        (self.path, self.model, self.progress, byteCount) = (path, model, progress, 0)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw errno == EWOULDBLOCK ? .busy : .file(errno) }
        var (openedStatus, pathStatus) = (stat(), stat())
        guard fstat(descriptor, &openedStatus) == 0, fchmod(descriptor, 0o600) == 0 else { throw .file(errno) }
        // Another process may have completed or deleted the file before this one had the lock.
        guard lstat(path, &pathStatus) == 0, pathStatus.st_ino == openedStatus.st_ino,
            pathStatus.st_dev == openedStatus.st_dev
        else { throw .busy }
        byteCount = Int64(openedStatus.st_size)
        if byteCount > model.byteCount { try restart() }
    }

    deinit { close(descriptor) }

    /// Deletes all downloaded bytes.
    private func restart() throws(ModelStoreError) {
        guard ftruncate(descriptor, 0) == 0 else { throw .file(errno) }
        byteCount = 0
    }

    // MARK: One response

    /// Prepares for the response to a request for the bytes `byteCount..<end`.
    func expect(upTo end: Int64) { (self.end, hasBegun, fault) = (end, false, nil) }

    /// Writes a piece of the response's content.
    /// - Returns: false if the piece was refused; `fault` is the reason.
    func append(_ response: HTTPClientResponse, _ bytes: [UInt8]) -> Bool {
        do throws(ModelStoreError) {
            try begin(response)
            guard Int64(bytes.count) <= end - byteCount else { throw .sizeDiffers }
            try write(bytes)
            progress(byteCount)
            return true
        } catch {
            fault = error
            return false
        }
    }

    /// Ends a response: refuses a whole file that is too short, and flushes the bytes to disk.
    func finish(_ response: HTTPClientResponse) throws(ModelStoreError) {
        try begin(response)
        // A whole file that is too short is not the catalogue's file.
        guard response.status != 200 || byteCount == model.byteCount else { throw .sizeDiffers }
        guard fdatasync(descriptor) == 0 else { throw .file(errno) }
    }

    /// Checks the status and the range of a response before its first byte is written, and deletes the downloaded bytes
    /// if the response has the whole file. Later calls do nothing.
    private func begin(_ response: HTTPClientResponse) throws(ModelStoreError) {
        guard !hasBegun else { return }
        hasBegun = true
        switch response.status {
        case 200:
            // The server ignores ranges, and sends the file from its beginning.
            if byteCount > 0 { try restart() }
            end = model.byteCount
        case 206:
            guard let range = response.header("content-range").flatMap({ ContentRange($0) }), range.first == byteCount
            else { throw .unreadable }
            guard range.total == nil || range.total == model.byteCount else { throw .sizeDiffers }
            end = min(end, range.last + 1)
        default: throw .refused(status: response.status)
        }
    }

    private func write(_ bytes: [UInt8]) throws(ModelStoreError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let writtenCount = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(byteCount)) }
            if writtenCount < 0, errno == EINTR { continue }
            guard writtenCount > 0 else { throw .file(writtenCount == 0 ? EIO : errno) }
            byteCount += Int64(writtenCount)
            rest = rest.dropFirst(writtenCount)
        }
    }

    // MARK: Completion

    /// Returns the checksum of the bytes on the disk.
    func sha256() throws(ModelStoreError) -> [UInt8] {
        let digest = StreamedSHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var position: Int64 = 0
        while true {
            let readCount = pread(descriptor, &buffer, buffer.count, off_t(position))
            if readCount < 0, errno == EINTR { continue }
            guard readCount >= 0 else { throw .file(errno) }
            guard readCount > 0 else { return digest.finish() }
            digest.append(buffer, count: readCount)
            position += Int64(readCount)
        }
    }

    /// Flushes the file, and renames it. If the process dies, the file has either the old or the new name, with all its
    /// bytes.
    func rename(to newPath: String, in folder: String) throws(ModelStoreError) {
        guard fsync(descriptor) == 0, Glibc.rename(path, newPath) == 0 else { throw .file(errno) }
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw .file(errno) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw .file(errno) }
    }

    func remove() { unlink(path) }
}

extension ModelStore {
    /// Creates the folder if it is missing.
    func createFolder() throws(ModelStoreError) {
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .file(errno) }
    }
}

/// The value of `Content-Range` in a response with status 206, such as `bytes 0-99/1000` (RFC 9110 §14.4).
struct ContentRange: Hashable {
    /// The offset of the first byte.
    let first: Int64
    /// The offset of the last byte, which belongs to the range.
    let last: Int64
    /// The size of the whole file; nil for `*`.
    let total: Int64?

    init?(_ text: String) {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts.first?.split(separator: "-", omittingEmptySubsequences: false).map(Self.number) ?? []
        guard parts.count == 2, ends.count == 2, let first = ends[0], let last = ends[1], first <= last else {
            return nil
        }
        (self.first, self.last) = (first, last)
        if parts[1] == "*" {
            total = nil
        } else {
            guard let total = Self.number(parts[1]), last < total else { return nil }
            self.total = total
        }
    }

    /// Returns the number of one to 15 digits; nil for any other text.
    private static func number(_ text: Substring) -> Int64? {
        (1...15).contains(text.utf8.count) && text.utf8.allSatisfy { (48...57).contains($0) } ? Int64(text) : nil
    }
}
