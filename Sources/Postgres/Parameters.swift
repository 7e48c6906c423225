import CPostgres
import Domain
import SQL

/// The parameters of one statement in PostgreSQL's binary format: one buffer, and where each value lies in it.
struct Parameters {
    private var buffer: [UInt8] = []
    /// Where each value begins; nil where it is null.
    private var places: [Int?] = []
    private var lengths: [Int32] = []

    init(_ values: [SQLValue]) {
        buffer.reserveCapacity(values.count * 17 + 256)
        places.reserveCapacity(values.count)
        lengths.reserveCapacity(values.count)
        for value in values {
            if case .null = value {
                places.append(nil)
                lengths.append(0)
                continue
            }
            let start = buffer.count
            Self.append(value, to: &buffer)
            places.append(start)
            lengths.append(Int32(clamping: buffer.count - start))
            // libpq wants a pointer even for an empty value; keep every value's start inside the buffer.
            buffer.append(0)
        }
    }

    var count: Int { places.count }

    /// Lends the arrays that PQsendQueryPrepared takes.
    func withArrays<Result>(
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>, _ lengths: UnsafePointer<Int32>,
            _ formats: UnsafePointer<Int32>
        ) -> Result
    ) -> Result? {
        let formats = [Int32](repeating: 1, count: count + 1)
        return unsafe buffer.withUnsafeBytes { bytes in
            let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var pointers = unsafe places.map { place in unsafe place.flatMap { unsafe base?.advanced(by: $0) } }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { values in
                unsafe lengths.withUnsafeBufferPointer { lengths in
                    unsafe formats.withUnsafeBufferPointer { formats in
                        guard let values = values.baseAddress, let formats = formats.baseAddress else { return nil }
                        // Without values there are no lengths, and libpq looks at none of the arrays.
                        return unsafe body(Int32(count), values, lengths.baseAddress ?? formats, formats)
                    }
                }
            }
        }
    }

    private static func append(_ value: SQLValue, to buffer: inout [UInt8]) {
        switch value {
        case .null: break
        case .boolean(let value): buffer.append(value ? 1 : 0)
        case .integer(let value): append(value, to: &buffer)
        case .double(let value): append(value.bitPattern, to: &buffer)
        case .text(let value): buffer.append(contentsOf: value.utf8)
        case .bytes(let value): buffer.append(contentsOf: value)
        case .uuid(let high, let low):
            append(high, to: &buffer)
            append(low, to: &buffer)
        case .timestamp(let value): append(value.microseconds &- postgresEpoch, to: &buffer)
        case .json(let value):
            buffer.append(1)  // the version of jsonb's binary form
            buffer.append(contentsOf: value.utf8)
        case .array(let type, let values): appendArray(values, of: type, to: &buffer)
        }
    }

    /// array_recv: dimensions, whether there are nulls, element type, length, lower bound, then each element with its
    /// length.
    private static func appendArray(_ values: [SQLValue], of type: SQLType, to buffer: inout [UInt8]) {
        append(Int32(values.isEmpty ? 0 : 1), to: &buffer)
        append(Int32(values.contains { $0.isNull } ? 1 : 0), to: &buffer)
        append(type.oid, to: &buffer)
        guard !values.isEmpty else { return }
        append(Int32(clamping: values.count), to: &buffer)
        append(Int32(1), to: &buffer)
        for value in values {
            let place = buffer.count
            append(Int32(-1), to: &buffer)
            if value.isNull { continue }
            append(value, to: &buffer)
            let length = UInt32(clamping: buffer.count - place - 4)
            for index in 0..<4 { buffer[place + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(index))) }
        }
    }

    private static func append(_ value: some FixedWidthInteger, to buffer: inout [UInt8]) {
        unsafe withUnsafeBytes(of: value.bigEndian) { unsafe buffer.append(contentsOf: $0) }
    }
}

/// 2000-01-01T00:00:00Z, where PostgreSQL's timestamps start, in microseconds since 1970.
let postgresEpoch: Int64 = 946_684_800_000_000

extension SQLType {
    /// The type's OID in `pg_type`.
    var oid: Oid {
        switch self {
        case .boolean: 16
        case .integer: 20
        case .double: 701
        case .text: 25
        case .bytes: 17
        case .uuid: 2950
        case .timestamp: 1184
        case .json: 3802
        case .booleans: 1000
        case .integers: 1016
        case .doubles: 1022
        case .texts: 1009
        case .byteStrings: 1001
        case .uuids: 2951
        case .timestamps: 1185
        case .jsons: 3807
        }
    }
}

extension SQLValue {
    fileprivate var isNull: Bool { if case .null = self { true } else { false } }
}
