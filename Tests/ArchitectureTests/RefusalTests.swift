import Testing

@Suite("Refusals")
struct RefusalTests {
    private static let catalogue = SourceFile.all.filter { $0.path.hasPrefix("Server/Refusals/") }

    /// Messages that are written in a call: of an `APIError` and an `ExecutionReason` with its code, and in the server of
    /// an `InvalidInput`.
    private static func messages(in file: SourceFile) -> [String] {
        let names = ["APIError(", "ExecutionReason("] + (file.target == "Server" ? ["InvalidInput("] : [])
        guard file.code.contains(where: { line in names.contains { line.contains($0) } }) else { return [] }
        let code = file.code.joined(separator: "\n")
        let coded = code.matches(of: /\b(?:APIError|ExecutionReason)\(\s*\.?\w+,\s*"([^"\n]*)/).map(\.output.1)
        let uncoded = code.matches(of: /\bInvalidInput\(\s*"([^"\n]*)/).map(\.output.1)
        return (coded + (file.target == "Server" ? uncoded : [])).map(String.init)
    }

    @Test("messages of refusals are written in the catalogue alone")
    func inOnePlace() {
        #expect(Self.catalogue.flatMap(Self.messages).count > 150)
        for file in SourceFile.all
        where !file.path.hasPrefix("Server/Refusals/") && file.path != "Contract/Core/APIError.swift" {
            for message in Self.messages(in: file) {
                Issue.record("\(file.path) has the message “\(message)”: give it a name in Server/Refusals")
            }
        }
    }

    @Test("the server uses every message of the catalogue of refusals")
    func used() {
        var counts: [Substring: Int] = [:]
        for file in SourceFile.all where file.target == "Server" {
            for line in file.code {
                for word in Self.words(line) { counts[word, default: 0] += 1 }
            }
        }
        for line in Self.catalogue.flatMap(\.code) {
            let words = Self.words(line)
            guard let keyword = words.first(where: { $0 == "let" || $0 == "func" }),
                line.hasPrefix("    static") || line.hasPrefix("    func"), let index = words.firstIndex(of: keyword)
            else { continue }
            #expect(counts[words[index + 1], default: 0] > 1, "\(words[index + 1]) is not used")
        }
    }

    private static func words(_ line: String) -> [Substring] {
        line.utf8.split { byte in
            !(UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte)
        }.map { Substring($0) }
    }
}
