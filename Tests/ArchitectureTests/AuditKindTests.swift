import Audit
import Testing

@Suite("Kinds of audit entries")
struct AuditKindTests {
    /// Texts of that form which are no kinds.
    private static let others: Set<String> = [
        "tone.default", "pgoptions.txt", "subscription.endpoint", "subscription.keys",
        // Attributes of spans, by OpenTelemetry's names.
        "error.type", "http.request.method", "http.response.status_code", "http.route", "peer.service", "service.name",
        "service.version", "service.instance.id",
    ]

    private static let code = SourceFile.all.filter { $0.target == "Server" }.map { file in
        (path: file.path, text: file.code.joined(separator: "\n"))
    }

    /// Acts take an `AuditKind`; this finds texts such as `nag.created` in statements or elsewhere, without columns such
    /// as `u.id`.
    @Test("the server's sources write no kind of audit entry as text")
    func named() {
        for file in Self.code {
            for match in file.text.matches(of: /"([a-z_]+(?:\.[a-z_]+)+)"/) {
                let text = String(match.output.1)
                let first = text.prefix { $0 != "." }
                guard first.count > 2 || first == "ai", !Self.others.contains(text) else { continue }
                Issue.record("\(file.path) has the text “\(text)”: use AuditKind")
            }
        }
    }

    @Test("every kind of audit entry is used in the server's sources", arguments: AuditKind.allCases)
    func used(kind: AuditKind) {
        let name = ".\(kind)"
        let isUsed = Self.code.contains { file in
            file.text.ranges(of: name).contains { range in
                let next = range.upperBound < file.text.endIndex ? file.text[range.upperBound] : " "
                return !next.isLetter && !next.isNumber
            }
        }
        #expect(isUsed, "the server does not write “\(kind.rawValue)”")
    }
}
