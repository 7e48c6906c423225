// The standard library has no public API for Unicode normal forms, and Foundation is too large for this module.
import Domain
@_spi(_Unicode) import Swift

extension FieldReader {
    /// Returns the name of a person or family, or a user name, trimmed and in Unicode's composed form (NFC), so that
    /// the same name has the same text however it was typed. Empty names, control characters and invisible characters
    /// without an effect are refused, because with them names could differ that look the same.
    /// - Parameter maxLength: the maximum length in Unicode scalars.
    public func name(_ field: String, _ maxLength: Int) throws(InvalidInput) -> String {
        try Self.checkedName(try required(field), field, maxLength)
    }

    public func optionalName(_ field: String, _ maxLength: Int) throws(InvalidInput) -> String? {
        guard let text: String = try optional(field) else { return nil }
        return try Self.checkedName(text, field, maxLength)
    }

    private static func checkedName(_ text: String, _ field: String, _ maxLength: Int) throws(InvalidInput) -> String {
        if text.unicodeScalars.contains(where: isControl) {
            throw .controlCharacters(in: field)
        }
        let trimmedText = trimmed(text)
        if containsStrayInvisible(trimmedText) { throw .invisibleCharacters(in: field) }
        // The composed form of some characters is longer, so both lengths are checked.
        let name = composed(trimmedText)
        guard max(trimmedText.unicodeScalars.count, name.unicodeScalars.count) <= maxLength else {
            throw .tooMany("characters", max: maxLength, in: field)
        }
        guard name.unicodeScalars.contains(where: isVisible) else {
            throw .empty(field)
        }
        return name
    }

    /// Whether a character is a control character or a line separator, or changes the text direction.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isWhitespace && !isInvisible(scalar) && scalar.value != brailleBlank
    }

    /// Whether fonts do not draw a character: zero-width characters, direction marks, fillers, tags, selectors.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isDefaultIgnorableCodePoint || (0xFFF9...0xFFFB).contains(scalar.value)
    }

    private static let brailleBlank: UInt32 = 0x2800

    /// Whether a text has an invisible character that has no effect on its neighbours.
    ///
    /// These have an effect: joiners and selectors in emoji sequences, and tags in regional flags (UTS #51); a joiner
    /// or non-joiner after a virama, which shapes a syllable; a non-joiner between Arabic letters, which keeps them
    /// apart, as in Persian (RFC 5892, appendix A); and a selector after an ideograph, which selects its form.
    private static func containsStrayInvisible(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        return scalars.indices.contains { index in
            let scalar = scalars[index]
            guard isInvisible(scalar) else { return false }
            guard index > 0 else { return true }
            let previous = scalars[index - 1]
            switch scalar.value {
            case 0x200C:
                let isBetweenArabic =
                    isArabicLetter(previous) && index + 1 < scalars.count && isArabicLetter(scalars[index + 1])
                return !(isVirama(previous) || isBetweenArabic)
            case 0x200D:
                if isVirama(previous) { return false }
                return !(isEmojiPart(previous) && index + 1 < scalars.count && isEmojiPart(scalars[index + 1]))
            case 0xFE0E, 0xFE0F: return !(previous.properties.isEmoji || previous.properties.isIdeographic)
            case 0xFE00...0xFE0D, 0xE0100...0xE01EF: return !previous.properties.isIdeographic
            case 0xE0020...0xE007F: return !(previous.value == 0x1F3F4 || (0xE0020...0xE007E).contains(previous.value))
            default: return true
            }
        }
    }

    private static func isArabicLetter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic
            && [0x0620...0x06FF, 0x0750...0x077F, 0x0870...0x08FF].contains { $0.contains(scalar.value) }
    }

    private static func isVirama(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.canonicalCombiningClass.rawValue == 9
    }

    /// Whether a character is an emoji, or the end of an emoji sequence: a selector or a skin tone. Digits do not
    /// count.
    private static func isEmojiPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0xFE0F || (scalar.properties.isEmoji && scalar.value > 0x7F)
    }
}

/// Returns a text in Unicode's composed form, NFC.
func composed(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text._nfc)
    return String(scalars)
}
