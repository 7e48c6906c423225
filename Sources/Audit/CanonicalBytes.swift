import Domain

/// Fields joined so that different lists never give the same bytes: each is preceded by its four-byte big-endian
/// length, or by 0xffffffff alone where it is absent.
struct CanonicalBytes {
    private(set) var bytes: [UInt8] = []

    init(reserving capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// Creates a value that appends to `start`.
    init(after start: consuming [UInt8]) { bytes = start }

    mutating func append(_ field: [UInt8]?) {
        guard let field else { return bytes.appendBigEndian(UInt32.max) }
        bytes.appendBigEndian(UInt32(clamping: field.count))
        bytes += field
    }

    mutating func append(text: String) {
        bytes.appendBigEndian(UInt32(clamping: text.utf8.count))
        bytes += text.utf8
    }

    mutating func append<Kind>(_ id: Identifier<Kind>?) {
        guard let id else { return bytes.appendBigEndian(UInt32.max) }
        bytes.appendBigEndian(UInt32(16))
        bytes.append(id)
    }

    /// Splits canonical bytes into their fields; nil when the bytes end inside one.
    static func split(_ bytes: [UInt8]) -> [[UInt8]?]? {
        var fields: [[UInt8]?] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 4 else { return nil }
            let length = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            rest = rest.dropFirst(4)
            if length == .max {
                fields.append(nil)
                continue
            }
            guard rest.count >= Int(length) else { return nil }
            fields.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        return fields
    }
}
