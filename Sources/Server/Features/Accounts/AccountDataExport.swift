import Audit
import Contract
import Domain
import HTTP
import Postgres
import Reactor
import SQL

/// The data of the caller's account as one JSON object, read page by page while it is sent. It contains no secrets and
/// no bytes of pictures.
///
/// The audit log records the request. The session is checked again before each page. An export that fails midway
/// ends before its last brace, so that nobody mistakes it for a complete one.
final class AccountDataExport {
    private static let pageSize = 100

    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Sends the export page by page.
    /// - Throws: 429 when the caller has too many exports under way or has reached the day's limit, 503 when the server
    ///   has too many.
    func stream(_ caller: Caller, _ call: Call<NoParameters, NoBody>) async throws -> Response {
        let runningExport = try services.exportLimiter.begin(caller.userID, from: caller.context.remote)
        try await recordAndCountExport(caller)
        let loopServices = LoopBound(value: services)
        return Response(
            .ok, .json,
            body: .stream { body in
                defer { withExtendedLifetime(runningExport) {} }
                try await Self.write(caller, loopServices.value, to: body)
            })
    }

    /// Records the export in the audit log, and counts it against the day's limit.
    private func recordAndCountExport(_ caller: Caller) async throws {
        let _: NoAnswer = try await services.writeToOwnChain(caller, acceptsWaiting: true) { account, seq, queries in
            let count = DailyCount(limit: .accountExports, user: caller.userID)
            let act = Act(
                kind: .accountExported, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: account.pseudonym, stampedRows: 0,
                statements: [try await count.checkedIncrement(at: caller.now, queries)])
            return .perform(act, NoAnswer())
        }
    }

    private static func write(_ caller: Caller, _ services: Services, to body: BodyWriter) async throws {
        let families = try await currentAndFormerFamilies(of: caller, services)
        var isFirstSection = true
        for section in AccountExport.Section.allCases {
            try await body.write(Array("\(isFirstSection ? "{" : ",")\"\(section.rawValue)\":[".utf8))
            isFirstSection = false
            var isFirstRow = true
            for family in section.familiesToRead(families) {
                var after = ResourceID(high: 0, low: 0)
                while true {
                    let caller = caller.copy(at: services.clock.now())
                    _ = try await services.access.account(caller, acceptsWaiting: true, services.database)
                    let page = ExportPage(user: caller.userID, after: after, limit: pageSize)
                    let rows = try await services.throttledQueries(of: caller).query(section.statement(page, family))
                    let exportedRows = try rows.map { row throws(PostgresError) -> (id: ResourceID, json: String) in
                        (try row["id"], try row["json"])
                    }
                    var bytes: [UInt8] = []
                    for (_, json) in exportedRows {
                        if !isFirstRow { bytes.append(UInt8(ascii: ",")) }
                        isFirstRow = false
                        bytes += json.utf8
                    }
                    try await body.write(bytes)
                    guard exportedRows.count == pageSize, let last = exportedRows.last else { break }
                    after = last.id
                }
            }
            try await body.write([UInt8(ascii: "]")])
        }
        try await body.write([UInt8(ascii: "}")])
    }

    /// Returns the families that the caller is or was in.
    private static func currentAndFormerFamilies(of caller: Caller, _ services: Services) async throws -> [FamilyID] {
        var families: [FamilyID] = []
        while true {
            let after: ResourceID = families.last?.retyped() ?? ResourceID(high: 0, low: 0)
            let page = ExportPage(user: caller.userID, after: after, limit: pageSize)
            let pageFamilies = try await services.database.query(MembershipStatements.exported(page)).map {
                row throws(PostgresError) -> FamilyID in try row["id"]
            }
            families += pageFamilies
            if pageFamilies.count < pageSize { return families }
        }
    }
}

extension AccountExport.Section {
    /// Returns the families whose rows the section reads one after another; a nil element stands for the rows outside
    /// families.
    fileprivate func familiesToRead(_ families: [FamilyID]) -> [FamilyID?] {
        switch self {
        case .notes, .preferences, .points, .badges, .incentives, .aiConstraints, .aiExecutions, .drafts: families
        // These also have rows outside families, such as those of connections.
        case .nags, .excuses, .deliveries, .aiAnswers, .inputs: families + [nil]
        case .account, .sessions, .memberships, .consents, .devices, .blocks, .abuseReports, .connections,
            .attachments, .aiKeys:
            [nil]
        }
    }

    fileprivate func statement(_ page: ExportPage, _ ledger: FamilyID?) -> SQL {
        let family = ledger ?? .outside
        return switch self {
        case .account: AccountStatements.exported(page)
        case .sessions: SessionStatements.exported(page)
        case .memberships: MembershipStatements.exported(page)
        case .nags: NagStatements.exportedNags(page, in: ledger)
        case .excuses: NagStatements.exportedExcuses(page, in: ledger)
        case .notes: NagStatements.exportedNotes(page, in: family)
        case .preferences: PreferenceStatements.exported(page, in: family)
        case .consents: ConsentStatements.exported(page)
        case .devices: DeviceStatements.exported(page)
        case .deliveries: DeliveryStatements.exported(page, in: ledger)
        case .blocks: BlockStatements.exported(page)
        case .abuseReports: AbuseReportStatements.exported(page)
        case .points: GamificationStatements.exportedEvents(page, in: family)
        case .badges: GamificationStatements.exportedBadges(page, in: family)
        case .incentives: IncentiveStatements.exportedEvents(page, in: family)
        case .aiConstraints: ConstraintStatements.exported(page, in: family)
        case .aiExecutions: ExecutionStatements.exported(page, in: family)
        case .aiAnswers: AIStatements.exported(page, in: ledger)
        case .aiKeys: AIKeyStatements.exported(page)
        case .drafts: DraftStatements.exported(page, in: family)
        case .inputs: IngestionStatements.exported(page, in: ledger)
        case .connections: ConnectionStatements.exported(page)
        case .attachments: AttachmentStatements.exported(page)
        }
    }
}
