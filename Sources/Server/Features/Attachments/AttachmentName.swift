/// File names of pictures, which clients choose.
enum AttachmentName {
    /// The maximum length of a name, in Unicode scalars.
    private static let maxLength = 100

    /// Returns the last component of a client's path, at most `maxLength` long, without invisible characters and those
    /// with a meaning in paths or header fields; `picture` if nothing is left.
    static func sanitized(_ filename: String?) -> String {
        let last = (filename ?? "").split { $0 == "/" || $0 == "\\" }.last ?? ""
        let scalars = last.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
            default: scalar != "\"" && !scalar.properties.isDefaultIgnorableCodePoint
            }
        }
        var name = String.UnicodeScalarView(scalars.prefix(maxLength))
        while let first = name.first, first == "." || first.properties.isWhitespace { name.removeFirst() }
        while let last = name.last, last == "." || last.properties.isWhitespace { name.removeLast() }
        return name.isEmpty ? "picture" : String(name)
    }

    /// Returns a Content-Disposition that shows the content and names it (RFC 6266 §4, RFC 8187 §3.2). The plain name
    /// keeps unreserved characters and blanks; an underscore replaces every other one.
    static func contentDisposition(_ filename: String) -> String {
        var (plain, encoded) = ("", "")
        for scalar in filename.unicodeScalars {
            let isPlain = isUnreserved(scalar)
            plain.unicodeScalars.append(isPlain || scalar == " " ? scalar : "_")
            if isPlain {
                encoded.unicodeScalars.append(scalar)
            } else {
                for byte in UTF8.encode(scalar) ?? UTF8.EncodedScalar() {
                    let digits = String(byte, radix: 16, uppercase: true)
                    encoded += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
                }
            }
        }
        return "inline; filename=\"\(plain)\"; filename*=UTF-8''\(encoded)"
    }

    private static func isUnreserved(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-", "~": true
        default: false
        }
    }
}
