import ChildProcesses
import Domain
import Foundation
import Testing

@testable import TimeZones

@Suite("The time zone database")
struct ZoneDatabaseTests {
    /// The zones of PyPI's tzdata, as Python reads them.
    private struct PythonZones: Sendable {
        let folder: String
        /// The offset at the beginning of 2020, and each change until the end of 2030.
        let zones: [(name: String, first: Int, changes: [(moment: Int64, offset: Int)])]

        /// Python reads them once for all tests, which takes it some seconds.
        static let shared = Result { try PythonZones() }

        private init() throws {
            let python = try #require(
                ProcessInfo.processInfo.environment["NAGZ_TEST_PYTHON"],
                "set NAGZ_TEST_PYTHON to a Python with tzdata (deploy/test does)")
            let here = URL(filePath: #filePath).deletingLastPathComponent()
            let process = try ChildProcess(URL(filePath: python), ["zones.py"], in: here, hasErrorPipe: false)
            try process.input.close()
            let output = try process.output.readToEnd() ?? Data()
            try #require(process.wait() == 0)
            var lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
            folder = String(try #require(lines.first))
            lines.removeFirst()
            zones = try lines.map { line in
                let words = line.split(separator: " ")
                return (
                    String(words[0]), try #require(Int(words[1])),
                    try words.dropFirst(2).map { word in
                        let pair = word.split(separator: "=")
                        return (try #require(Int64(pair[0])), try #require(Int(pair[1])))
                    }
                )
            }
        }
    }

    @Test("every zone has the offsets of Python's reader, at each change from 2020 to 2030 and between")
    func everyZone() throws {
        let python = try PythonZones.shared.get()
        let database = ZoneDatabase(folder: python.folder)
        #expect(python.zones.count > 500)
        for (name, first, changes) in python.zones where name.contains("/") || name == "UTC" || name == "GMT" {
            let zone = try #require(database.zone(name), "\(name)")
            var (begin, offset) = (Int64(1_577_836_800), first)
            for (change, after) in changes + [(moment: 1_924_991_999, offset: 0)] {
                for moment in [begin, begin + (change - begin) / 2, change - 1] {
                    #expect(zone.secondsFromUTC(at: Timestamp(seconds: moment)) == offset, "\(name) at \(moment)")
                }
                (begin, offset) = (change, after)
            }
        }
    }

    @Test(
        "a database that has the clock changes decided in 2025 and 2026 applies them",
        arguments: [
            ("America/Vancouver", "2026-12-15T12:00:00Z", -7), ("Africa/Casablanca", "2026-12-15T12:00:00Z", 0),
            ("Europe/Berlin", "2026-12-15T12:00:00Z", 1), ("Europe/Berlin", "2040-07-01T12:00:00Z", 2),
        ])
    func recentChanges(name: String, moment: String, hours: Int) throws {
        let zone = try #require(ZoneDatabase(folder: PythonZones.shared.get().folder).zone(name))
        #expect(zone.secondsFromUTC(at: try #require(Timestamp(rfc3339: moment))) == hours * 3_600)
    }

    @Test(
        "the zone database refuses names that are no zone people choose, and paths",
        arguments: [
            "", "/", "Europe", "Europe/", "America/Argentina", "Europe/../Europe/Berlin", "../zoneinfo/Europe/Berlin",
            "posix/Europe/Berlin", "right/Europe/Berlin", "SystemV/EST5EDT", "EST", "tzdata.zi", "Europe/Berlin\0",
            "/etc/passwd", String(repeating: "a/", count: 40), "Mars/Olympus_Mons",
        ])
    func unknownNames(name: String) {
        #expect(ZoneDatabase.system.zone(name) == nil)
        #expect(ZoneTable().zoneOrUTC(name).secondsFromUTC(at: Timestamp(seconds: 0)) == 0)
    }

    @Test(
        "the zone database accepts UTC, GMT, and places of three parts",
        arguments: ["UTC", "GMT", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])
    func knownNames(name: String) { #expect(ZoneDatabase.system.zone(name) != nil) }

    @Test("after a refresh zones are those of a new release")
    func newRelease() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder.appending(path: "Test"), withIntermediateDirectories: true)
        func install(_ release: String, offset: String) throws {
            try Data("# version \(release)\n".utf8).write(to: folder.appending(path: "tzdata.zi"))
            try Data(ZoneBytes.file(footer: offset)).write(to: folder.appending(path: "Test/Zone"))
        }
        let now = Timestamp(seconds: 1_790_000_000)
        try install("2026a", offset: "<-08>8")
        let database = ZoneDatabase(folder: folder.path())
        let table = ZoneTable(database)
        #expect(database.release?.name == "2026a")
        #expect(table.zoneOrUTC("Test/Zone").secondsFromUTC(at: now) == -28_800)
        try install("2026b-longer", offset: "<-07>7")
        #expect(table.zoneOrUTC("Test/Zone").secondsFromUTC(at: now) == -28_800, "nobody has looked yet")
        database.refresh()
        #expect(database.release?.name == "2026b-longer")
        #expect(table.zoneOrUTC("Test/Zone").secondsFromUTC(at: now) == -25_200)
        try FileManager.default.removeItem(at: folder)
        database.refresh()
        #expect(database.release == nil)
    }
}
