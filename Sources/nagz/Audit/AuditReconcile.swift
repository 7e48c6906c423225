import Audit
import Contract
import Domain
import JSON
import Reactor
import Server

/// `nagz audit reconcile`: checks whether the audit log explains the database's state.
enum AuditReconcile {
    static func run(_ arguments: inout Arguments) async throws {
        let family = try arguments.takeFamily()
        let asJSON = arguments.takeFlag("--json")
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let progressLine = Locked(ProgressLine())
        let report = try await Reconciliation(of: family).run(
            databaseURL: url, keys: try AuditKeyFile.read(arguments.givenOptions)
        ) {
            progress in
            progressLine.withLock {
                $0.show("\(progress.families) families, \(progress.entries) entries, \(progress.findings) findings")
            }
        }
        progressLine.withLock { $0.clear() }
        if asJSON {
            print(json: String(decoding: ReportAsJSON(report: report).jsonBytes, as: UTF8.self))
        } else {
            printReport(report, family)
        }
        if report.findingCount > 0 {
            throw Stop(.tampered, "NOT EXPLAINED: \(counted(report.findingCount, "finding"))")
        }
        if let reason = report.incompleteReason { throw Stop(.incomplete, "INCOMPLETE: \(reason)") }
    }

    private static func printReport(_ report: StateReport, _ family: FamilyID?) {
        for finding in report.findings { print(finding) }
        if report.findingCount > Int64(report.findings.count) {
            print("… and \(report.findingCount - Int64(report.findings.count)) more")
        }
        if report.unprovenCount > 0 {
            print("UNPROVEN, because the log is invalid or unreadable at these entries:")
            for finding in report.unprovenFindings { print("  \(finding)") }
            if report.unprovenCount > Int64(report.unprovenFindings.count) {
                print("  … and \(report.unprovenCount - Int64(report.unprovenFindings.count)) more")
            }
        }
        let scope = family.map { "family \($0)" } ?? counted(report.chainCount, "family", "families")
        if report.verdict == "explained" {
            let (rows, entries) = (counted(report.comparedCount, "row"), counted(report.entryCount, "entry", "entries"))
            print("EXPLAINED: \(rows) of \(scope) by \(entries)")
        }
        for (gap, why) in [
            (StateReport.Gap.erased, "the person was erased"), (.pruned, "retention deleted the entries"),
            (.notRecorded, "the entries were written before the log recorded this"),
        ] {
            if let count = report.gaps[gap] { print("  not checked  \(count): \(why)") }
        }
    }
}

/// A report as one line of JSON. It contains IDs of the database, and no personal data.
private struct ReportAsJSON: WireOutput {
    let report: StateReport

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("verdict", report.verdict)
            json.field("families", Int(report.chainCount))
            json.field("entries", Int(report.entryCount))
            json.field("rows", Int(report.comparedCount))
            json.key("not_told")
            json.object { json in
                json.field("erased", Int(report.gaps[.erased] ?? 0))
                json.field("pruned", Int(report.gaps[.pruned] ?? 0))
                json.field("before_told", Int(report.gaps[.notRecorded] ?? 0))
            }
            json.field("findings", Int(report.findingCount))
            json.field("unproven", Int(report.unprovenCount))
            json.field("incomplete", report.incompleteReason)
            json.field("first", report.findings.map { FindingAsJSON(finding: $0) })
            json.field("first_unproven", report.unprovenFindings.map { FindingAsJSON(finding: $0) })
        }
    }
}

private struct FindingAsJSON: WireOutput {
    let finding: StateFinding

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", finding.family?.description)
            json.field("subject", finding.subject.rawValue)
            json.field("id", finding.id)
            json.field("problem", finding.problem.rawValue)
            json.field("field", finding.field)
            json.field("found", finding.found)
            json.field("expected", finding.expected)
            json.field("n", finding.number.map { Int($0) })
        }
    }
}
