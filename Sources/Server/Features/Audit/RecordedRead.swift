import Audit
import Contract
import Domain
import Postgres

/// A read by an administrator, as its entry in the audit log records it.
///
/// The requests of one page view carry one trace. Under it, a read that an entry of the last hour covers is not recorded
/// again: the entry is of the same person and of the same or a wider scope. Any entry covers the lists of families and of
/// people, which label what else a page shows; a read of the entries about consents covers the consents in force. Exports,
/// verifications and single reports are always recorded.
struct RecordedRead {
    /// The reach of a read: figures of entries, or the entries themselves.
    private enum Reach: Int {
        case figures, entries
    }

    static let coverage = Timestamp.Span.hours(1)
    private static let reaches: [String: Reach] = [
        API.getAuditStatus.operation.id: .figures, API.getAuditActivity.operation.id: .figures,
        API.listAuditEvents.operation.id: .entries, API.getAuditEvent.operation.id: .entries,
    ]
    private static let labels: Set<String> = [API.listAuditFamilies.operation.id, API.listAuditPeople.operation.id]
    /// Further lists, which only the same list covers.
    private static let lists: Set<String> = [
        API.listAuditConsents.operation.id, API.listAuditFindings.operation.id, API.listDeliveryReviews.operation.id,
        API.listAbuseReportReviews.operation.id,
    ]

    let operation: String
    /// The family that was read; nil for all families.
    let family: String?
    /// The conditions that narrow the read, by name; a page of a list is of the same scope as the others.
    let conditions: [String: String]

    /// - Parameter details: those of the entry.
    init(_ details: [String: String]) {
        operation = details["operation"] ?? ""
        family = details["family"]
        conditions = details.filter { !["operation", "family", "cursor", "limit"].contains($0.key) }
    }

    var mayBeCovered: Bool {
        Self.reaches[operation] != nil || Self.labels.contains(operation) || Self.lists.contains(operation)
    }

    /// The read as one of entries: the consents in force follow from the entries about consents.
    private var asEntries: RecordedRead {
        guard operation == API.listAuditConsents.operation.id else { return self }
        return RecordedRead(
            conditions.merging(
                [
                    "operation": API.listAuditEvents.operation.id, "family": family, "q": "consent.",
                ].compactMapValues(\.self)
            ) { $1 })
    }

    func covers(_ later: RecordedRead) -> Bool {
        guard later.mayBeCovered else { return false }
        if Self.labels.contains(later.operation) { return true }
        let later = later.operation == operation ? later : later.asEntries
        let (reach, wanted) = (Self.reaches[operation], Self.reaches[later.operation])
        if operation != later.operation {
            guard let reach, let wanted, reach.rawValue >= wanted.rawValue else { return false }
        }
        guard family == later.family || family == nil && reach == .entries else { return false }
        // Some conditions are only said to be given, not what they are.
        return wanted == .figures
            || conditions.allSatisfy { $0.value == later.conditions[$0.key] && $0.value != "given" }
    }
}

extension Services {
    /// Records that an administrator reads, unless an entry of the same trace covers it.
    func recordRead(
        _ caller: Caller, _ account: Account, _ what: Contract.Operation, of family: FamilyID? = nil,
        _ details: AuditBody = [:]
    ) async throws {
        var details = details
        details["operation"] = what.id
        details["family"] = family?.description
        let read = RecordedRead(details.dictionary)
        if read.mayBeCovered {
            let rows = try await database.query(
                AuditStatements.reads(
                    by: account.pseudonym, under: caller.context.trace, since: caller.now - RecordedRead.coverage))
            let recorded = try rows.map { row in
                try sealing.body(row).bytes.flatMap { AuditBody(canonical: $0) }.map { RecordedRead($0.dictionary) }
            }
            if recorded.contains(where: { $0?.covers(read) == true }) { return }
        }
        let act = Act(
            kind: .adminRead, basis: .nothing, actor: account.pseudonym, resource: family?.retyped(), details: details,
            stampedRows: 0)
        let _: NoAnswer = try await ledger.write(caller, in: .outside) { _ in .perform(act, NoAnswer()) }
    }
}
