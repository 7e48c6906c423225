import Contract
import HTTP

/// Reads the parameters and the body of a request, and handles names that the operation does not know. A `GET` ignores
/// unknown parameters and lists the first ten in a response header; the other methods refuse them; bodies may have
/// unknown members. With `Prefer: handling=strict` (RFC 7240) every unknown name is refused.
final class NameCheck {
    /// The names of the parameters that each operation reads, by the operation's id.
    private var knownParameters: [String: Set<String>] = [:]

    /// Returns the decoded parameters and body. If unknown parameters are ignored, it adds their names to `fields`, the
    /// header fields of the response.
    /// - Throws: the refusal of the first unknown name that is not ignored, or of what cannot be decoded.
    func read<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>, _ request: Request, path: [ParameterReader.Pair],
        query: [ParameterReader.Pair], _ fields: inout [HeaderField]
    ) throws(APIError) -> (parameters: Parameters, body: Body) {
        let (operation, isStrict) = (endpoint.operation, Self.isStrict(request))
        let known = knownParameters[operation.id] ?? []
        if !isStrict, query.allSatisfy({ known.contains($0.name) }) {
            return try (
                endpoint.decodeParameters(ParameterReader(path: path, query: query)),
                endpoint.decodeBody(request.body.span)
            )
        }
        let parameterNames = KnownNames()
        let parameters = try endpoint.decodeParameters(ParameterReader(path: path, query: query, names: parameterNames))
        knownParameters[operation.id] = known.union(parameterNames.knownNames)
        if let first = parameterNames.unknownNames.first {
            guard operation.method == .get, !isStrict else { throw first.refusal }
            let ignored = parameterNames.unknownNames.prefix(10).map(\.safeName).joined(separator: ", ")
            fields.insert(HeaderField(HeaderFields.ignoredParameters, ignored), at: 0)
        }
        guard isStrict else { return try (parameters, endpoint.decodeBody(request.body.span)) }
        let memberNames = KnownNames()
        let body = try memberNames.recordBodyNames { () throws(APIError) in try endpoint.decodeBody(request.body.span) }
        if let first = memberNames.unknownNames.first { throw first.refusal }
        return (parameters, body)
    }

    private static func isStrict(_ request: Request) -> Bool {
        guard let preferences = request.headers["prefer"] else { return false }
        return preferences.lowercased().split { $0 == "," || $0 == ";" }.contains { preference in
            preference.filter { $0 != " " && $0 != "\"" } == "handling=strict"
        }
    }
}
