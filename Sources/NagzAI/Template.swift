/// A text with placeholders such as `{name}`, parsed once.
struct Template<Slot: RawRepresentable<String> & Hashable & Sendable>: Hashable, Sendable {
    private enum Part: Hashable, Sendable {
        case text(String)
        case slot(Slot)
    }

    private let parts: [Part]

    /// Parses a template.
    /// - Throws: a problem for an unbalanced brace, or a placeholder that is unknown or not allowed.
    init(_ text: String, allowing allowed: Set<Slot>) throws(PoolProblem) {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}"),
                let slot = Slot(rawValue: String(rest[rest.index(after: open)..<close]))
            else { throw PoolProblem("a brace that is no gap") }
            guard allowed.contains(slot) else { throw PoolProblem("a gap that has no value here") }
            parts += [.text(String(rest[..<open])), .slot(slot)]
            rest = rest[rest.index(after: close)...]
        }
        self.parts = parts + [.text(String(rest))]
    }

    var slots: Set<Slot> {
        Set(parts.compactMap { if case .slot(let slot) = $0 { slot } else { nil } })
    }

    /// Returns the text with its placeholders replaced; one without a value becomes empty. Values are not parsed, so a
    /// name may contain braces.
    func filled(_ values: [Slot: String]) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .slot(let slot): values[slot] ?? ""
            }
        }.joined()
    }
}
