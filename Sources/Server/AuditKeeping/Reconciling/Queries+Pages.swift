import Domain
import Postgres
import SQL

extension Queries {
    /// Runs a statement that reads pages of `ReconcileStatements.pageSize` rows in the order of `id`, page by page.
    /// - Parameters:
    ///   - pause: called after each page with the number of its rows; throws to cancel.
    ///   - body: called for each row.
    func forEachRow<Kind>(
        _ page: (_ last: Identifier<Kind>?) -> SQL, pause: (_ rows: Int) async throws -> Void,
        _ body: (Row) throws -> Void
    ) async throws {
        try await forEachRow(page, place: { try $0["id"] }, pause: pause, body)
    }

    /// Runs a statement that reads pages of `ReconcileStatements.pageSize` rows, page by page.
    /// - Parameters:
    ///   - place: the place of a row in the statement's order.
    ///   - pause: called after each page with the number of its rows; throws to cancel.
    ///   - body: called for each row.
    func forEachRow<Place>(
        _ page: (_ last: Place?) -> SQL, place: (Row) throws -> Place, pause: (_ rows: Int) async throws -> Void,
        _ body: (Row) throws -> Void
    ) async throws {
        var last: Place?
        while true {
            let rows = try await query(page(last))
            for row in rows {
                try body(row)
                last = try place(row)
            }
            try await pause(rows.count)
            if rows.count < ReconcileStatements.pageSize { return }
        }
    }
}
