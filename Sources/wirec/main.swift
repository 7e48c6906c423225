import Foundation
import WireCompiler

// `wirec swift FOLDER OUTPUT` generates Swift from the declarations in FOLDER and writes it to OUTPUT;
// `wirec document FOLDER` prints their OpenAPI document.

let arguments = Array(CommandLine.arguments.dropFirst())

func run() throws {
    switch (arguments.first, arguments.count) {
    case ("swift", 3):
        for (name, source) in try WireFolder(URL(filePath: arguments[1])).swiftSources() {
            let file = URL(filePath: arguments[2]).appending(path: name)
            // An unchanged file is not written, so it is not compiled again.
            if (try? String(contentsOf: file, encoding: .utf8)) == source { continue }
            try source.write(to: file, atomically: true, encoding: .utf8)
        }
    case ("document", 2): print(try WireFolder(URL(filePath: arguments[1])).document(), terminator: "")
    default: fail("usage: wirec swift FOLDER OUTPUT | wirec document FOLDER", status: 2)
    }
}

func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(status)
}

do {
    try run()
} catch {
    fail("\(error)", status: 1)
}
