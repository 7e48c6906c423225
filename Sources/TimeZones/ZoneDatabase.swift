import Domain
import Foundation
import Synchronization

/// The IANA time zone database of this system. The operating system's package updates it several times a year.
///
/// Foundation has its own database, which is as old as the toolchain that linked it.
public final class ZoneDatabase: Sendable {
    /// The database in `/usr/share/zoneinfo`, or in the folder that `ZONEINFO` names.
    public static let system = ZoneDatabase(
        folder: ProcessInfo.processInfo.environment["ZONEINFO"] ?? "/usr/share/zoneinfo")

    public let folder: String
    private let loadedRelease: Mutex<Release?>
    /// The number of changes of the release. When it grows, tables discard the zones of the previous release.
    private let generation = Atomic<Int>(0)

    /// A release of the database, as its file `tzdata.zi` names it.
    public struct Release: Sendable, Hashable {
        /// The name, such as `2026f`; nil if the file has none.
        public let name: String?
        /// The time of the file's last change; with the size it distinguishes releases.
        fileprivate let changedAt: Date
        fileprivate let size: UInt64

        /// Returns the time from the build of the system's package to that moment.
        public func age(at moment: Timestamp) -> Timestamp.Span {
            .seconds(moment.seconds - Int64(changedAt.timeIntervalSince1970))
        }
    }

    public init(folder: String) {
        self.folder = folder
        loadedRelease = Mutex(Self.readRelease(in: folder))
    }

    /// The release in use; nil if the folder has no database.
    public var release: Release? { loadedRelease.withLock { $0 } }

    /// Checks whether there is a new release, so that tables read their zones again. It reads only the beginning of a
    /// file, so it may be called every few seconds.
    public func refresh() {
        let isNew = loadedRelease.withLock { release in
            let current = Self.readRelease(in: folder)
            defer { release = current }
            return release != current
        }
        if isNew { generation.add(1, ordering: .releasing) }
    }

    var currentGeneration: Int { generation.load(ordering: .acquiring) }

    /// Returns the zone with that name; nil for an unknown name, and for a file that is no valid zone. It reads a file
    /// of a few kilobytes.
    public func zone(_ name: String) -> (any ZoneRules)? {
        guard Self.isZoneName(name), let file = FileHandle(forReadingAtPath: "\(folder)/\(name)") else { return nil }
        defer { try? file.close() }
        guard let bytes = try? file.read(upToCount: ZoneFile.sizeLimit + 1), bytes.count <= ZoneFile.sizeLimit else {
            return nil
        }
        return ZoneFile(Array(bytes))
    }

    /// Returns whether the text can be the name of a zone that people choose: an area and a place, `UTC` or `GMT`. The
    /// folders `posix` and `right` contain copies of the zones, which PostgreSQL does not know.
    private static func isZoneName(_ name: String) -> Bool {
        if name == "UTC" || name == "GMT" { return true }
        guard name.utf8.count <= 64 else { return false }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return (2...3).contains(parts.count) && !["posix", "right"].contains(parts[0])
            && parts.allSatisfy { part in
                part.utf8.first.map(isLetter) == true
                    && part.utf8.allSatisfy { isLetter($0) || isDigit($0) || "_-+".utf8.contains($0) }
            }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func readRelease(in folder: String) -> Release? {
        let path = "\(folder)/tzdata.zi"
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let changedAt = attributes[.modificationDate] as? Date, let size = attributes[.size] as? UInt64
        else { return nil }
        let prefix = "# version "
        let firstBytes = FileHandle(forReadingAtPath: path).flatMap { file in
            defer { try? file.close() }
            return try? file.read(upToCount: 64)
        }
        let line = firstBytes.map { String(decoding: $0, as: UTF8.self).prefix { $0 != "\n" } } ?? ""
        let name = line.hasPrefix(prefix) ? String(line.dropFirst(prefix.count)) : nil
        return Release(name: name, changedAt: changedAt, size: size)
    }
}
