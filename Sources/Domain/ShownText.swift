/// The text in one line that shows as it reads: each control character and line or paragraph separator becomes a space, and
/// characters that reorder what stands beside them (Unicode's property `Bidi_Control`) are left out.
///
/// For other people's text where it is shown beside ours: a control character would command a terminal, a line break would
/// begin a line of ours, and a reordering would move our words.
public func inOneLine(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    var isAfterReturn = false
    for scalar in text.unicodeScalars {
        defer { isAfterReturn = scalar == "\r" }
        // One line break, not two.
        if isAfterReturn, scalar == "\n" { continue }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
        default: if !scalar.properties.isBidiControl { line.append(scalar) }
        }
    }
    return String(line)
}
