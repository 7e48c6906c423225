// Unicode's normal forms are not public in the standard library, and Foundation is too large for this module.
@_spi(_Unicode) import Swift

extension FieldReader {
    /// What a person, a family or a sign-in is called: without the white space around it and in Unicode's composed form
    /// (NFC), so that a name is the same text however it was typed. A blank name is refused, and one with control
    /// characters. The length counts Unicode scalars.
    public func name(_ field: String, _ most: Int) throws(InvalidInput) -> String {
        try Self.name(try required(field), field, most)
    }

    public func optionalName(_ field: String, _ most: Int) throws(InvalidInput) -> String? {
        guard let text: String = try optional(field) else { return nil }
        return try Self.name(text, field, most)
    }

    private static func name(_ text: String, _ field: String, _ most: Int) throws(InvalidInput) -> String {
        if text.unicodeScalars.contains(where: isControl) {
            throw InvalidInput("must not contain control characters", field: field)
        }
        let given = trimmed(text)
        // A few characters are longer in the composed form.
        let name = composed(given)
        guard max(given.unicodeScalars.count, name.unicodeScalars.count) <= most else {
            throw InvalidInput("must have at most \(most) characters", field: field)
        }
        guard name.unicodeScalars.contains(where: isVisible) else {
            throw InvalidInput("must not be empty", field: field)
        }
        return name
    }

    /// Control characters, ends of lines, and what turns the direction of the text around a name.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
    }
}

/// The text in Unicode's composed form, NFC.
func composed(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text._nfc)
    return String(scalars)
}
