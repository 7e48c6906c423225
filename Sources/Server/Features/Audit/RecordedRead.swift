import Audit
import Contract
import Domain
import Postgres

/// A read by an administrator, as its entry in the audit log records it.
///
/// The requests of one page view carry one trace. A read is not recorded again if an entry of the same trace and person
/// covers it: an entry of the last hour with the same or a wider scope. Any entry covers the lists of families and of
/// people, which only name what a page shows; a read of the entries about consents covers the consents in force.
/// Exports, verifications and single reports are always recorded.
struct RecordedRead {
    /// The kind of content that a read shows.
    private enum Content {
        /// Counts and status figures. A recorded read of entries covers them.
        case figures
        case entries
        /// The consents in force, which follow from the entries about consents.
        case consents
        /// The names of families and people that a page shows.
        case labels
        /// A list that only the same list covers.
        case otherList
    }

    /// The time for which an entry covers later reads.
    static let coverageTime = Timestamp.Span.hours(1)
    private static let contents: [String: Content] = [
        API.getAuditStatus.operation.id: .figures, API.getAuditActivity.operation.id: .figures,
        API.listAuditEvents.operation.id: .entries, API.getAuditEvent.operation.id: .entries,
        API.listAuditConsents.operation.id: .consents,
        API.listAuditFamilies.operation.id: .labels, API.listAuditPeople.operation.id: .labels,
        API.listAuditFindings.operation.id: .otherList, API.listDeliveryReviews.operation.id: .otherList,
        API.listAbuseReportReviews.operation.id: .otherList,
    ]
    /// The search text that finds the entries about consents: the beginning of their kinds.
    private static let consentSearchText = String(AuditKind.consentGranted.rawValue.prefix { $0 != "." }) + "."

    /// The id of the operation that reads.
    let operation: String
    /// The family that was read; nil for all families.
    let family: String?
    /// The conditions that narrow the read, by name. All pages of a list have the same scope.
    let conditions: [String: String]

    /// - Parameter details: the details of the audit entry, by name.
    init(_ details: [String: String]) {
        operation = details["operation"] ?? ""
        family = details["family"]
        conditions = details.filter { !["operation", "family", "cursor", "limit"].contains($0.key) }
    }

    private var content: Content? { Self.contents[operation] }
    var mayBeCovered: Bool { content != nil }

    func covers(_ later: RecordedRead) -> Bool {
        guard let wanted = later.content else { return false }
        if wanted == .labels { return true }
        var wantedConditions = later.conditions
        if later.operation != operation {
            switch (content, wanted) {
            case (.entries, .consents): wantedConditions["q"] = Self.consentSearchText
            case (.entries, .entries), (.entries, .figures), (.figures, .figures): break
            default: return false
            }
        }
        guard family == later.family || family == nil && content == .entries else { return false }
        // A value that is recorded as `given` cannot be compared.
        return wanted == .figures
            || conditions.allSatisfy { $0.value == wantedConditions[$0.key] && $0.value != "given" }
    }
}

extension Services {
    /// Records that an administrator reads, unless an entry of the same trace covers it. A repeated `Idempotency-Key`
    /// does not keep a read from being recorded.
    func recordAdminRead(
        _ caller: Caller, _ account: Account, _ operation: Contract.Operation, of family: FamilyID? = nil,
        _ details: AuditBody = [:]
    ) async throws {
        var details = details
        details["operation"] = operation.id
        details["family"] = family?.description
        let read = RecordedRead(details.dictionary)
        if read.mayBeCovered {
            let rows = try await database.query(
                AuditStatements.newestAdminReads(
                    by: account.pseudonym, under: caller.context.trace, since: caller.now - RecordedRead.coverageTime))
            let recordedReads = try rows.map { row in
                try sealing.openBody(of: row).bytes.flatMap { AuditBody(canonical: $0) }
                    .map { RecordedRead($0.dictionary) }
            }
            if recordedReads.contains(where: { $0?.covers(read) == true }) { return }
        }
        let act = Act(
            kind: .adminRead, basis: .nothing, actor: account.pseudonym, resource: family?.retyped(), details: details,
            stampedRows: 0)
        let _: NoAnswer = try await ledger.write(caller.withoutConditions, in: .outside) { _ in
            .perform(act, NoAnswer())
        }
    }
}
