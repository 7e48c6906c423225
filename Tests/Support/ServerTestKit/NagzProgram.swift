import Foundation

/// The program `nagz` that was built with the tests.
enum NagzProgram {
    static let url: URL? = {
        // The program is beside the bundle of the tests, which an argument names, or in the debug folder.
        let places = CommandLine.arguments.filter { $0.contains(".xctest") }.map { path in
            URL(filePath: String(path[..<(path.range(of: ".xctest")?.lowerBound ?? path.endIndex)]))
        }
        let folders = places.map { $0.deletingLastPathComponent() } + [repository.appending(path: ".build/debug")]
        return folders.map { $0.appending(path: "nagz") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path())
        }
    }()
}
