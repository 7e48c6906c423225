import Audit
import Glibc

/// The model files in one folder, which only their owner can read.
///
/// `ID.gguf` is a complete file, whose checksum was verified after the download; `ID.part` is the downloaded part of a
/// file.
public struct ModelStore: Sendable {
    /// The state of a model's file.
    public enum State: Hashable, Sendable {
        /// There is no file, and no part of one.
        case missing
        /// A download was interrupted, or is under way, with this number of bytes so far.
        case partial(bytes: Int64)
        /// A complete file with the size of the catalogue.
        case downloaded
        /// A complete file whose size differs from the catalogue's.
        case wrongSize(bytes: Int64)
    }

    public let folder: String
    let freeBytes: @Sendable (String) -> Int64?

    /// - Parameters:
    ///   - folder: the folder for model files, created by the first download.
    ///   - freeBytes: returns the bytes that are free for a file in the folder; nil if unknown.
    public init(folder: String, freeBytes: @escaping @Sendable (String) -> Int64? = ModelStore.freeBytes) {
        self.folder = folder
        self.freeBytes = freeBytes
    }

    /// Returns the path of the complete file, whether it exists or not.
    public func path(of model: ModelFile) -> String { "\(folder)/\(model.id).gguf" }

    /// Returns the path of the downloaded part, whether it exists or not.
    func partPath(of model: ModelFile) -> String { "\(folder)/\(model.id).part" }

    public func state(of model: ModelFile) -> State {
        if let bytes = Self.size(path(of: model)) {
            return bytes == model.byteCount ? .downloaded : .wrongSize(bytes: bytes)
        }
        return Self.size(partPath(of: model)).map { .partial(bytes: $0) } ?? .missing
    }

    /// Returns the path of a model's complete file.
    /// - Throws: `notDownloaded` if there is none, or if its size differs from the catalogue's.
    public func completePath(of model: ModelFile) throws(ModelStoreError) -> String {
        guard state(of: model) == .downloaded else { throw .notDownloaded }
        return path(of: model)
    }

    /// Returns the size in bytes of a model's complete file and its part together; 0 if there is neither.
    public func sizeOnDisk(of model: ModelFile) -> Int64 {
        (Self.size(path(of: model)) ?? 0) + (Self.size(partPath(of: model)) ?? 0)
    }

    /// Deletes a model's files, complete or not.
    /// - Returns: the number of deleted bytes.
    /// - Throws: `notDownloaded` if there is none; `file`.
    @discardableResult
    public func delete(_ model: ModelFile) throws(ModelStoreError) -> Int64 {
        let bytes = sizeOnDisk(of: model)
        var isDeleted = false
        for path in [path(of: model), partPath(of: model)] {
            if unlink(path) == 0 { isDeleted = true } else if errno != ENOENT { throw .file(errno) }
        }
        guard isDeleted else { throw .notDownloaded }
        return bytes
    }

    /// Returns the bytes that the file system of a folder has left for this user; nil if that cannot be read.
    public static func freeBytes(_ folder: String) -> Int64? {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        let (bytes, isTooLarge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isTooLarge ? .max : Int64(clamping: bytes)
    }

    /// Returns the size of a file in bytes; nil for a path that is no regular file.
    private static func size(_ path: String) -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }
}

/// A reason why a model's file is not available.
public enum ModelStoreError: Error, Hashable, Sendable {
    /// The file was not downloaded, or not completely.
    case notDownloaded
    /// The checksum differs from the catalogue's. The bytes were deleted.
    case checksumDiffers
    /// The size differs from the catalogue's. The bytes were deleted.
    case sizeDiffers
    /// The disk has not enough space.
    /// - Parameters:
    ///   - needed: the number of bytes that must be free.
    ///   - free: the number of bytes that are free.
    case noDiskSpace(needed: Int64, free: Int64)
    /// Another process is downloading the file.
    case busy
    /// The server answered with this status, which is neither 200 nor 206.
    case refused(status: Int)
    /// The server sent another part of the file than was requested, or no bytes.
    case unreadable
    /// The download was interrupted. The downloaded bytes are kept, and the next download continues from there.
    case interrupted(reason: String)
    /// A file cannot be read or written. The value is the system's error number.
    case file(Int32)

    /// The code for people and logs; nil for an error without one.
    public var code: String? {
        switch self {
        case .notDownloaded: "E-MODEL-001"
        case .checksumDiffers: "E-MODEL-002"
        case .noDiskSpace: "E-MODEL-003"
        case .sizeDiffers, .busy, .refused, .unreadable, .interrupted, .file: nil
        }
    }
}
