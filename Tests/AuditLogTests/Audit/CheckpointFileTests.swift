import Audit
import Domain
import Foundation
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The checkpoint file")
struct CheckpointFileTests {
    private static func entry(_ size: Int64, origin: String = "nagz.test/log") throws -> CheckpointFile.Entry {
        let key = try #require(SigningKey(name: origin, seed: [UInt8](repeating: 1, count: 32)))
        let checkpoint = Checkpoint(
            origin: origin, size: size, root: sha256([UInt8(size)]), time: Timestamp(seconds: 1_700_000_000 + size))
        return CheckpointFile.Entry(note: checkpoint.signed(by: [key]).fullText, checkpoint: checkpoint)
    }

    private static func run(_ body: (CheckpointFile) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try body(CheckpointFile(path: folder + "/checkpoint"))
        }
    }

    @Test("the checkpoint file holds the newest note with mode 600, and nothing of an interrupted write")
    func holds() async throws {
        try await Self.run { file in
            try file.checkReplaceable(origin: "nagz.test/log")
            #expect(try file.read() == nil)
            let (first, second) = (try Self.entry(1), try Self.entry(2))
            #expect(try file.replaceIfUnchanged(nil, by: first) == first)
            try "half a no".write(toFile: file.path + ".new", atomically: false, encoding: .utf8)
            #expect(try file.read() == first)
            #expect(try file.replaceIfUnchanged(first, by: second) == second)
            #expect(try file.read() == second)
            var info = stat()
            #expect(stat(file.path, &info) == 0 && info.st_mode & 0o777 == 0o600)
            try file.checkReplaceable(origin: "nagz.test/log")
        }
    }

    @Test("a checkpoint file that another instance replaced meanwhile is left as it is")
    func shared() async throws {
        try await Self.run { file in
            let entries = try (1...3).map { try Self.entry($0) }
            #expect(try file.replaceIfUnchanged(nil, by: entries[1]) == entries[1])
            #expect(try file.replaceIfUnchanged(nil, by: entries[2]) == entries[1])
            #expect(try file.replaceIfUnchanged(entries[0], by: entries[2]) == entries[1])
            #expect(try file.read() == entries[1])
            try file.overwrite(with: entries[0])
            #expect(try file.read() == entries[0])
            #expect(try CheckpointFile(path: file.path + ".replaced").read() == entries[1])
        }
    }

    @Test("a checkpoint file without a note, of another log or in no folder is refused")
    func refused() async throws {
        try await Self.run { file in
            for text in ["", "origin\n1\n", String(repeating: "a", count: 70_000)] {
                try text.write(toFile: file.path, atomically: false, encoding: .utf8)
                #expect(throws: CheckpointFile.Fault.self) { try file.checkReplaceable(origin: "nagz.test/log") }
            }
            try file.overwrite(with: try Self.entry(1, origin: "other/log"))
            #expect(throws: CheckpointFile.Fault.self) { try file.checkReplaceable(origin: "nagz.test/log") }
            let nowhere = CheckpointFile(path: file.path + "/checkpoint")
            #expect(throws: CheckpointFile.Fault.self) { try nowhere.checkReplaceable(origin: "nagz.test/log") }
        }
    }
}
