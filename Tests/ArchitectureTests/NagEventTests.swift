import Testing

@Suite("Nags and their events")
struct NagEventTests {
    @Test(
        "no statement of the server inserts a nag event without the source of its words",
        arguments: ["nags", "nag_events"])
    func source(table: String) {
        let files = SourceFile.all.filter { $0.path.hasPrefix("Server/") }
        var count = 0
        for file in files {
            let parts = file.code.joined(separator: "\n").split(separator: "INSERT INTO \(table)").dropFirst()
            for part in parts where part.first == " " || part.first == "\n" {
                count += 1
                let columns = part.prefix { $0 != ")" }
                #expect(columns.contains(" source,"), "\(file.path): \(columns)")
            }
        }
        #expect(count == 2)
    }

    @Test("nag events are inserted by one feature alone")
    func owner() {
        let files = SourceFile.all.filter { file in
            file.path.hasPrefix("Server/")
                && file.code.contains { line in
                    line.contains("INSERT INTO nags") || line.contains("INSERT INTO nag_events")
                }
        }
        #expect(files.allSatisfy { $0.path.hasPrefix("Server/Features/Nags/") }, "\(files)")
    }
}
