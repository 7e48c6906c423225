import Contract
import Postgres
import SQL

extension PageRequest {
    /// Returns a statement that selects this page of a list, for `Page.init(_:answering:_:)`.
    ///
    /// Each row has the number of items over all pages as `total`. A page without items is one row, in which every
    /// column of the table is null.
    /// - Parameters:
    ///   - columns: the columns of an item, from the table and from what `joins` adds.
    ///   - table: a table or a subquery, with one row for each item.
    ///   - name: the table's name in the other parameters.
    ///   - condition: selects the items by columns of the table.
    ///   - joins: LEFT JOINs, each of which MUST find at most one row for an item. Only the page's items are joined.
    ///   - order: expressions on columns of the table. No two items may be equal in all of them, or pages overlap.
    func select(
        _ columns: SQL, from table: SQL, as name: SQL, where condition: SQL, joining joins: SQL = "", orderBy order: SQL
    ) -> SQL {
        """
        SELECT \(columns), t.total
        FROM (SELECT count(*) AS total FROM \(table) \(name) WHERE \(condition)) t
        LEFT JOIN (
            SELECT * FROM \(table) \(name) WHERE \(condition) ORDER BY \(order) LIMIT \(limit) OFFSET \(offset)
        ) \(name) ON true
        \(joins)
        ORDER BY \(order)
        """
    }
}

extension Page {
    /// Reads the rows of `PageRequest.select`. `item` returns nil for a row without an item.
    init(_ rows: Rows, answering request: PageRequest, _ item: (Row) throws -> Item?) throws {
        self.init(
            items: try rows.map(item).compactMap(\.self), total: try rows.first?["total"] ?? 0, answering: request)
    }
}
