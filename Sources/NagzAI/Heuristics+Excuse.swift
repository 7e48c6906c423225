import Domain

extension Heuristics {
    /// Shortens the text, and returns the first category, in the table's order, that has a phrase in it.
    public func excuseSummary(of text: String, nagID: NagID) -> Outcome<ExcuseSummaryResponse> {
        let hits = phrasebook.excuses.labels(in: text)
        let category = ExcuseCategory.allCases.first(where: hits.contains) ?? .other
        let (confidence, rule): (Double, HeuristicRule) =
            switch hits.count {
            case 0: (0.3, .excuseNoCategory)
            case 1: (0.9, .excuseOneCategory)
            default: (0.6, .excuseSeveralCategories)
            }
        return Outcome(
            ExcuseSummaryResponse(
                nagID: nagID, summary: Self.shortened(text, to: 200), category: category, confidence: confidence),
            rule)
    }

    /// Returns a sentence for an excuse of that category, to be sent in place of the author's words.
    public func excuseSentence(for category: ExcuseCategory, nagID: NagID) -> String {
        let count = phrasebook.excuseSentences[category]?.count ?? 0
        let number = Self.position(of: nagID, in: count, movedBy: 0)
        return phrasebook.excuseSentence(number, for: category)
    }

    /// The first `limit` Characters of the trimmed text.
    ///
    /// A Character can have any number of scalars. A Character of more than 64 bytes (twice the longest emoji) is cut
    /// to the first scalars that fit, so the result has at most `limit` × 64 bytes.
    static func shortened(_ text: String, to limit: Int) -> String {
        var short = ""
        for character in text.trimmed.prefix(limit) {
            if character.utf8.count <= 64 {
                short.append(character)
                continue
            }
            var kept = String.UnicodeScalarView()
            var bytes = 0
            for scalar in character.unicodeScalars {
                bytes += UTF8.width(scalar)
                if bytes > 64 { break }
                kept.append(scalar)
            }
            // A joiner at the end would join with the following text.
            while kept.last == "\u{200D}" { kept.removeLast() }
            short.unicodeScalars.append(contentsOf: kept)
        }
        return short
    }
}
