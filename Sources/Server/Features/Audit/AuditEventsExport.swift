import Contract
import Domain
import HTTP
import JSON
import Postgres
import Reactor

/// Everything that a filter finds, as a file: newest first, read page by page while it is sent.
final class AuditEventsExport {
    private static let pageSize = 200

    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Sends the file page by page. It ends early if a read fails, or the caller may no longer read the audit log.
    /// - Throws: 403 as for the list of the same entries; 429 while too many exports of the person or their network are
    ///   under way, 503 for too many in all.
    func stream(_ caller: Caller, _ call: Call<AuditEventsExportQuery, NoBody>) async throws -> Response {
        let (conditions, format) = (call.parameters.conditions, call.parameters.format)
        let runningExport = try services.exportLimiter.begin(caller.userID, from: caller.context.remote)
        let reader = try await services.authorizeAndRecordRead(
            caller, of: conditions.familyID, reading: API.exportAuditEvents.operation, details: conditions.details)
        let filter = try await services.auditFilter(conditions, for: reader)
        let loopValues = LoopBound(value: (services: services, reader: reader, filter: filter))
        return Response(
            .ok, format == .csv ? .csv : .jsonLines,
            body: .stream { body in
                let (services, reader, filter) = loopValues.value
                defer { withExtendedLifetime(runningExport) {} }
                if format == .csv { try await body.write(AuditCSV.header) }
                guard let filter else { return }
                var cursor: AuditCursor?
                repeat {
                    let outcome = try await AuditScan(
                        filter: filter, family: reader.family, before: cursor, limit: Self.pageSize,
                        staysInFamily: !reader.isAdmin
                    ).run(services.database)
                    try await services.recheckReader(reader, caller)
                    var lines: [UInt8] = []
                    for row in outcome.rows {
                        let entry = try Contract.AuditEntry(row, services.sealing)
                        switch format {
                        case .csv: lines += AuditCSV.line(entry)
                        case .ndjson:
                            lines += entry.jsonBytes
                            lines.append(UInt8(ascii: "\n"))
                        }
                    }
                    if !lines.isEmpty { try await body.write(lines) }
                    cursor = outcome.next
                } while cursor != nil
            })
    }
}

/// Audit entries as lines of CSV (RFC 4180).
enum AuditCSV {
    static let header = line([
        "at", "family_id", "n", "kind", "actor", "actor_id", "subject", "subject_id", "resource_id", "trace_id",
        "request_id", "details", "hash",
    ])

    static func line(_ entry: Contract.AuditEntry) -> [UInt8] {
        line([
            entry.at.rfc3339, entry.familyID.description, String(entry.n), entry.kind, entry.actor.description,
            entry.actorID?.description ?? "", entry.subject?.description ?? "", entry.subjectID?.description ?? "",
            entry.resourceID?.description ?? "", entry.traceID.description, entry.requestID.description,
            entry.details.map { String(decoding: $0.jsonBytes, as: UTF8.self) } ?? "", entry.hash.wireText,
        ])
    }

    static func line(_ fields: [String]) -> [UInt8] {
        Array((fields.map(quoted).joined(separator: ",") + "\r\n").utf8)
    }

    /// The characters with which formulas begin, and their full-width forms.
    private static let formulaSigns: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ]

    /// Returns the field in quotes. Spreadsheets evaluate a field that begins like a formula, quoted or not; an
    /// apostrophe before it makes it text.
    private static func quoted(_ field: String) -> String {
        let isFormula = field.unicodeScalars.first.map(formulaSigns.contains) ?? false
        return "\"" + (isFormula ? "'" : "") + field.replacing("\"", with: "\"\"") + "\""
    }
}
