import Contract
import Postgres

extension Page {
    /// A page of rows, each with the number over all pages as `total`. A page past the end is one row of which `item` makes
    /// nothing.
    init(_ rows: Rows, answering request: PageRequest, _ item: (Row) throws -> Item?) throws {
        self.init(
            items: try rows.map(item).compactMap(\.self), total: try rows.first?["total"] ?? 0, answering: request)
    }
}
