import Contract
import Postgres

extension Page {
    /// Reads a page from rows, each with the number of items over all pages as `total`. A page past the end is one row
    /// for which `item` returns nil.
    init(_ rows: Rows, answering request: PageRequest, _ item: (Row) throws -> Item?) throws {
        self.init(
            items: try rows.map(item).compactMap(\.self), total: try rows.first?["total"] ?? 0, answering: request)
    }
}
