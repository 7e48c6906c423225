/// Returns a typed or dictated code in the form in which codes are compared: in capital letters and ASCII digits,
/// without spaces, hyphens and invisible characters. Digits of other scripts and full-width letters are converted.
func normalizedCode(_ text: String) -> String {
    var code = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .dashPunctuation, .spaceSeparator, .control, .format: continue
        case .decimalNumber:
            let digit = scalar.properties.numericValue.map { UInt8(ascii: "0") + UInt8($0) }
            code.append(digit.map { Unicode.Scalar($0) } ?? scalar)
        default:
            // U+FF21…U+FF3A and U+FF41…U+FF5A are the full-width letters.
            let isFullWidth = (0xFF21...0xFF3A).contains(scalar.value) || (0xFF41...0xFF5A).contains(scalar.value)
            code.append(isFullWidth ? Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar : scalar)
        }
    }
    return String(code).uppercased()
}

extension UInt8 {
    /// Whether it is an ASCII digit.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
