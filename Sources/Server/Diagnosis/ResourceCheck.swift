import Domain
import Foundation
import Glibc
import HTTP
import Reactor
import TimeZones

/// Checks the resources that the machine gives the server: disk space, time zones, and descriptors.
public enum ResourceCheck {
    // MARK: Disk

    /// The free space in a file system.
    struct DiskSpace {
        /// The number of bytes that may be used without privileges.
        var freeBytes: UInt64
        /// The number of files that may be created; nil where the file system sets no limit.
        var freeFiles: UInt64?
        var isReadOnly: Bool
    }

    /// The check fails when fewer bytes than this are free.
    private static let minimumFreeBytes: UInt64 = 16 << 20
    /// The check warns when fewer bytes than this are free.
    private static let lowFreeBytes: UInt64 = 256 << 20

    /// Checks the file system that holds the checkpoint file, which is all that the server writes outside the database.
    public static func checkDisk(of file: CheckpointFile) -> CheckResult {
        var status = statvfs()
        guard statvfs(file.folder, &status) == 0 else {
            return .failed(
                "disk", "“\(file.folder)” cannot be read: \(String(cString: strerror(errno)))",
                advice: "create the folder, or name another file with NAGZ_AUDIT_CHECKPOINT_FILE")
        }
        let space = DiskSpace(
            freeBytes: UInt64(status.f_bavail) * UInt64(status.f_frsize),
            freeFiles: status.f_files == 0 ? nil : UInt64(status.f_favail),
            isReadOnly: status.f_flag & UInt(ST_RDONLY) != 0
        )
        return checkDisk(space, folder: file.folder)
    }

    static func checkDisk(_ space: DiskSpace, folder: String) -> CheckResult {
        if space.isReadOnly {
            return .failed(
                "disk", "the file system of “\(folder)” is read-only",
                advice: "mount it writable, or name a file elsewhere with NAGZ_AUDIT_CHECKPOINT_FILE")
        }
        let text = "\(space.freeBytes >> 20) MB are free in “\(folder)”"
        if space.freeFiles == 0 {
            return .failed("disk", "the file system of “\(folder)” has no free inodes", advice: "delete files")
        }
        if space.freeBytes < minimumFreeBytes {
            return .failed("disk", text, advice: "free disk space, else the audit log stops")
        }
        return space.freeBytes < lowFreeBytes ? .warning("disk", text, advice: "free disk space") : .ok("disk", text)
    }

    // MARK: Time zones

    /// Checks the time zone database, from which local times are computed.
    /// - Parameter now: the current time.
    public static func checkTimeZones(_ database: ZoneDatabase = .system, at now: Timestamp) -> CheckResult {
        guard let release = database.release else {
            return .failed(
                "time zones", "there is no time zone database in “\(database.folder)”",
                advice: "install the package tzdata: without it every local time is UTC")
        }
        let text = "\(release.name ?? "a release without a name") in “\(database.folder)”"
        return release.age(at: now) < .days(366)
            ? .ok("time zones", text)
            : .warning(
                "time zones", "\(text) is older than a year",
                advice: "upgrade the package tzdata; servers read it without a restart")
    }

    // MARK: Descriptors

    /// Checks the descriptor limits of this process. A server that is started in the same way has the same limits.
    public static func checkDescriptors(_ configuration: Configuration) -> CheckResult {
        let limit = DescriptorLimit.current()
        return checkDescriptors(configuration, soft: limit.soft, hard: limit.hard)
    }

    static func checkDescriptors(_ configuration: Configuration, soft: Int, hard: Int) -> CheckResult {
        // The server raises the soft limit to the hard one.
        let limitText = soft < hard ? "\(soft), which nagz serve raises to \(hard)" : "\(hard)"
        var candidate = configuration
        candidate.descriptorLimit = hard
        guard let connections = candidate.reducedConnectionLimit else {
            return .ok("descriptors", "\(limitText) are enough for \(candidate.httpLimits.maxConnections) connections")
        }
        var sufficientLimit = hard
        repeat {
            sufficientLimit += 1_000
            candidate.descriptorLimit = sufficientLimit
        } while candidate.reducedConnectionLimit != nil
        return .warning(
            "descriptors",
            "\(limitText) are enough for \(connections) connections at once, not for "
                + "\(candidate.httpLimits.maxConnections)",
            advice: "raise the hard limit to \(sufficientLimit) (LimitNOFILE= in the unit, ulimit -Hn in a shell)")
    }
}
