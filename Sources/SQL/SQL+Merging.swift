/// Merges statements of one shape, for requests that wait at the same time: they share the round trip and the
/// database's cost of starting a statement.
///
/// The values become a table, `request`, with one row for each statement: the columns `value_1`, `value_2`, … and
/// `ordinal`, from 1. The table is passed as arrays, so one prepared statement serves any number of requests.
extension SQL {
    /// The position after `WITH` at which the merged statement defines the table `request`. A statement that contains
    /// it controls its own merging: it names the table with `\(merged:)`, has it in scope wherever it uses a value, and
    /// returns `ordinal` as its first column.
    public static let requests = SQL(pieces: [.requests])

    /// Merges statements of one shape. The merged statement returns the rows of all, with the statement's `ordinal` as
    /// the first column.
    ///
    /// A statement without `requests` MUST be a `SELECT`. Returns nil if the statements have no values, have runtime
    /// text, or have an array among their values.
    public static func merged(_ statements: [SQL]) -> SQL? {
        guard let first = statements.first, first.runtimeTexts.isEmpty, !first.values.isEmpty else { return nil }
        let types = first.values.map(\.type)
        let arrays = types.compactMap(\.arrayType)
        guard arrays.count == types.count else { return nil }

        // Only the first array is expanded, and the others are read by position: PostgreSQL builds a table of its own for
        // every array that it expands.
        var table: [Piece] = [
            .literal("unnest("), .value(arrays[0]), .literal(") WITH ORDINALITY AS request (value_1, ordinal)"),
        ]
        for (index, type) in arrays.enumerated().dropFirst() {
            table += [
                .literal(index == 1 ? " CROSS JOIN LATERAL (SELECT (" : ", ("), .value(type),
                .literal(")[ordinal::integer] AS "), .requestValue(index + 1),
            ]
        }
        if arrays.count > 1 { table.append(.literal(") others")) }

        var pieces: [Piece] = []
        var count = 0
        var definesRequestTable = false
        for piece in first.pieces {
            switch piece.kind {
            case .value:
                count += 1
                pieces.append(.requestValue(count))
            case .onlyMerged: pieces.append(piece.asLiteral)
            case .requests:
                definesRequestTable = true
                pieces += [.literal("request AS (SELECT * FROM ")] + table + [.literal("), ")]
            default: pieces.append(piece)
            }
        }
        if !definesRequestTable {
            pieces =
                [.literal("SELECT request.ordinal, answer.* FROM ")] + table + [.literal(" CROSS JOIN LATERAL (")]
                + pieces
                + [.literal(") answer")]
        }
        var merged = SQL(pieces: pieces)
        merged.values = types.indices.map { index in .array(types[index], statements.map { $0.values[index] }) }
        return merged
    }
}
