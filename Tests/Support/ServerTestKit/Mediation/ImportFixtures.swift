import Contract
import Domain
import SQL
import Testing

@testable import Server

/// A family into which tests import lists of nags.
struct ImportScene: Sendable {
    let server: TestServer
    let home: Household

    init(_ server: TestServer) async throws {
        self.server = server
        home = try await server.family()
    }

    static let batch = ImportID(high: 0x0d, low: 1)

    static func input(_ id: UInt64) -> InputID { InputID(high: 0x0e, low: id) }

    func item(_ id: UInt64, to recipient: TestPerson? = nil, after hours: Int64 = 3) -> ImportItem {
        ImportItem(
            itemID: ImportItemID(Self.input(id)),
            nag: SuggestedNag(
                recipientID: (recipient ?? home.child).id, category: .chores, description: "number \(id)",
                dueAt: server.clock.now() + .hours(hours), doneDefinition: .binaryCheck))
    }

    @discardableResult
    func send(
        _ items: [ImportItem], as batch: ImportID = batch, source: DraftSource = .imported, isDryRun: Bool = false,
        by person: TestPerson? = nil, headers: [String: String] = [:]
    ) async throws -> ImportResult {
        try await server.call(
            API.importNags,
            NagImport(familyID: home.id, importID: batch, source: source, items: items, isDryRun: isDryRun),
            as: person ?? home.guardian, headers: headers)
    }

    /// Imports `count` nags for the child.
    func imported(_ count: UInt64, by person: TestPerson? = nil) async throws -> ImportResponse {
        try await send((1...count).map { item($0) }, by: person)
        return try await read(by: person)
    }

    func read(_ batch: ImportID = batch, by person: TestPerson? = nil) async throws -> ImportResponse {
        try await server.call(API.getImport, ImportPath(importID: batch), as: person ?? home.guardian)
    }

    @discardableResult
    func approve(
        _ selection: ImportSelection, _ effects: [DraftSideEffect] = DraftKind.suggestedNag.sideEffects,
        of batch: ImportID = batch, by person: TestPerson? = nil
    ) async throws -> ImportResponse {
        try await server.call(
            API.approveImport, ImportPath(importID: batch), ImportApproval(selection, acknowledged: effects),
            as: person ?? home.guardian)
    }

    func confirm(
        _ selection: ImportSelection, of batch: ImportID = batch, by person: TestPerson? = nil
    ) async throws -> DraftConfirmation {
        try await server.call(
            API.confirmImport, ImportPath(importID: batch), selection, as: person ?? home.guardian)
    }

    @discardableResult
    func execute(
        _ selection: ImportSelection, _ key: DraftConfirmation?, of batch: ImportID = batch,
        by person: TestPerson? = nil,
        headers: [String: String] = [:]
    ) async throws -> ImportResponse {
        try await server.call(
            API.executeImport, ImportPath(importID: batch),
            ImportExecution(selection, confirmation: key?.confirmation), as: person ?? home.guardian, headers: headers)
    }

    /// Approves and confirms drafts as one person, and returns the confirmation that their execution needs.
    func confirmed(
        _ selection: ImportSelection, of batch: ImportID = batch, by person: TestPerson? = nil
    ) async throws -> DraftConfirmation {
        try await approve(selection, of: batch, by: person)
        return try await confirm(selection, of: batch, by: person)
    }

    func draftCount() async throws -> Int { try await server.rows("SELECT id FROM drafts").count }
}

extension ImportResponse {
    /// Returns the selection of the drafts that can still be executed, with their present versions.
    func open(source: DraftSource = .keyboard) -> ImportSelection {
        let open = drafts.filter { $0.progress.state.isOpen }
        return ImportSelection(
            drafts: open.map { DraftChoice(draftID: $0.id, version: $0.progress.version) }, source: source)
    }

    var states: [DraftState] { drafts.map(\.progress.state) }
}
