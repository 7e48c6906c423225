import Foundation

/// The program that was built with the tests; nil when there is none.
enum NagzProgram {
    static let url: URL? = {
        // The tests are a bundle beside it, or run out of it.
        let places = CommandLine.arguments.filter { $0.contains(".xctest") }.map { path in
            URL(filePath: String(path[..<(path.range(of: ".xctest")?.lowerBound ?? path.endIndex)]))
        }
        let folders = places.map { $0.deletingLastPathComponent() } + [repository.appending(path: ".build/debug")]
        return folders.map { $0.appending(path: "nagz") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path())
        }
    }()
}
