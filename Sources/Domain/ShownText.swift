/// Returns a text in one line that is safe to print: each control character and line or paragraph separator becomes a
/// space, and characters that change the direction of text (Unicode's property `Bidi_Control`) are removed.
///
/// Texts of other people must pass through it before they are printed beside the program's own text: a control
/// character could command a terminal, a line break could begin a forged line, and a change of direction could move the
/// program's words.
public func safeLine(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    var isAfterReturn = false
    for scalar in text.unicodeScalars {
        defer { isAfterReturn = scalar == "\r" }
        // `\r\n` is one line break.
        if isAfterReturn, scalar == "\n" { continue }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
        default: if !scalar.properties.isBidiControl { line.append(scalar) }
        }
    }
    return String(line)
}
