/// The text in one line that shows as it reads: each control character and line or paragraph separator becomes a space, and
/// characters that reorder what stands beside them (Unicode's property `Bidi_Control`) are left out.
///
/// For texts of other people that are shown beside the program's own: a control character could command a terminal, a
/// line break could begin a line of its own, and a reordering could move the program's words.
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
