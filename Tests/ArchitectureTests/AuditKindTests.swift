import Audit
import Testing

@Suite("Kinds of audit entries")
struct AuditKindTests {
    /// Texts of that form which are no kinds.
    private static let others: Set<String> = ["tone.default", "pgoptions.txt"]

    /// What the server's sources write as a kind: texts such as `nag.created`, without columns such as `u.id`.
    private static let written: [String: String] = {
        var found: [String: String] = [:]
        for file in SourceFile.all where file.target == "Server" {
            for line in file.code {
                for match in line.matches(of: /"([a-z_]+(?:\.[a-z_]+)+)"/) {
                    let kind = String(match.output.1)
                    let first = kind.prefix { $0 != "." }
                    guard first.count > 2 || first == "ai", !others.contains(kind) else { continue }
                    found[kind] = file.path
                }
            }
        }
        return found
    }()

    @Test("each kind the server writes says what it changes of the state that the log explains")
    func known() {
        for (kind, path) in Self.written where StateEffect(kind: kind) == nil {
            Issue.record("\(path) writes “\(kind)”: say in StateEffect.all what it changes")
        }
    }

    @Test("no kind is listed that nobody writes")
    func used() {
        for kind in StateEffect.all.keys where kind != AuditEntry.erasureKind && Self.written[kind] == nil {
            Issue.record("StateEffect.all lists “\(kind)”, which the server does not write")
        }
    }
}
