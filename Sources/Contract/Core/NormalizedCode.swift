/// A code as somebody types or dictates it, in the form in which codes are compared: capital letters, and digits of any
/// script as ASCII's. Blanks, hyphens and invisible characters do not count, and full-width letters are plain ones.
func normalizedCode(_ text: String) -> String {
    var code = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .dashPunctuation, .spaceSeparator, .control, .format: continue
        case .decimalNumber:
            let digit = scalar.properties.numericValue.map { UInt8(ascii: "0") + UInt8($0) }
            code.append(digit.map { Unicode.Scalar($0) } ?? scalar)
        default:
            // U+FF21…U+FF3A and U+FF41…U+FF5A are ASCII's letters at full width.
            let isWide = (0xFF21...0xFF3A).contains(scalar.value) || (0xFF41...0xFF5A).contains(scalar.value)
            code.append(isWide ? Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar : scalar)
        }
    }
    return String(code).uppercased()
}

extension UInt8 {
    /// Whether it is an ASCII digit.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
