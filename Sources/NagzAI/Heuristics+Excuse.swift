import Domain

extension Heuristics {
    /// Shortens the text to 200 Characters, and finds its category: the first in the order of `ExcuseCategory` that has
    /// a phrase in the text, or `other`.
    public func excuseSummary(of text: String, nagID: NagID) -> Outcome<ExcuseSummaryResponse> {
        let categories = phrasebook.excusePhrases.labels(in: text)
        let category = ExcuseCategory.allCases.first(where: categories.contains) ?? .other
        let (confidence, rule): (Double, HeuristicRule) =
            switch categories.count {
            case 0: (0.3, .excuseNoCategory)
            case 1: (0.9, .excuseOneCategory)
            default: (0.6, .excuseSeveralCategories)
            }
        return Outcome(
            ExcuseSummaryResponse(
                nagID: nagID, summary: Self.shortened(text, to: 200), category: category, confidence: confidence),
            rule)
    }

    /// Returns a sentence for an excuse of a category, selected by the nag's ID. It is sent in place of the author's
    /// words.
    public func excuseSentence(for category: ExcuseCategory, nagID: NagID) -> String {
        let count = phrasebook.excuseSentences[category]?.count ?? 0
        let index = Self.poolIndex(for: nagID, count: count, offset: 0)
        return phrasebook.excuseSentence(index, for: category)
    }

    /// Returns the first `limit` Characters of the trimmed text.
    ///
    /// A Character can have any number of scalars. One of more than 64 bytes (twice the longest emoji) is cut to the
    /// first scalars that fit, so the result has at most `limit` × 64 bytes.
    static func shortened(_ text: String, to limit: Int) -> String {
        var short = ""
        for character in text.trimmed.prefix(limit) {
            if character.utf8.count <= 64 {
                short.append(character)
                continue
            }
            var fittingScalars = String.UnicodeScalarView()
            var bytes = 0
            for scalar in character.unicodeScalars {
                bytes += UTF8.width(scalar)
                if bytes > 64 { break }
                fittingScalars.append(scalar)
            }
            // A joiner at the end would join with the following text.
            while fittingScalars.last == "\u{200D}" { fittingScalars.removeLast() }
            short.unicodeScalars.append(contentsOf: fittingScalars)
        }
        return short
    }
}
