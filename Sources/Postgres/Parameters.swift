import CPostgres
import SQL

/// The parameters of one statement in PostgreSQL's binary format, in one buffer.
struct Parameters {
    private var buffer: [UInt8] = []
    /// The offset of each value; nil for null.
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []

    init(_ values: [SQLValue]) {
        offsets.reserveCapacity(values.count)
        lengths.reserveCapacity(values.count)
        var size = 0
        for value in values {
            let length = value.binaryLength
            offsets.append(value.isNull ? nil : size)
            lengths.append(Int32(clamping: length))
            // libpq needs a pointer even for an empty value: each offset stays inside the buffer.
            size += length + 1
        }
        // With a capacity of zero, the writer would write to the storage that all empty arrays share.
        guard size > 0 else { return }
        buffer.append(addingCapacity: size) { output in
            unsafe output.withUnsafeMutableBufferPointer { bytes, count in
                var writer = unsafe BinaryWriter(UnsafeMutableRawBufferPointer(bytes))
                for value in values {
                    writer.append(value)
                    writer.append(0 as UInt8)
                }
                count = writer.byteCount
            }
        }
    }

    var count: Int { offsets.count }

    /// Lends the arrays that PQsendQueryPrepared takes.
    func withArrays<Result>(
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>, _ lengths: UnsafePointer<Int32>,
            _ formats: UnsafePointer<Int32>
        ) -> Result
    ) -> Result? {
        var formats: [Int32] = []
        formats.append(addingCapacity: count + 1) { $0.append(repeating: 1, count: count + 1) }
        return unsafe buffer.withUnsafeBytes { bytes in
            let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var pointers = unsafe offsets.map { offset in unsafe offset.flatMap { unsafe base?.advanced(by: $0) } }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { values in
                unsafe lengths.withUnsafeBufferPointer { lengths in
                    unsafe formats.withUnsafeBufferPointer { formats in
                        guard let values = values.baseAddress, let formats = formats.baseAddress else { return nil }
                        // Without values there are no lengths, and libpq reads none of the arrays.
                        return unsafe body(Int32(count), values, lengths.baseAddress ?? formats, formats)
                    }
                }
            }
        }
    }
}

/// Writes values in PostgreSQL's binary format to memory that is large enough for them, never beyond its end.
@safe private struct BinaryWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var byteCount = 0

    init(_ memory: UnsafeMutableRawBufferPointer) { unsafe (self.memory = memory) }

    mutating func append(_ value: SQLValue) {
        switch value {
        case .null: break
        case .boolean(let value): append(value ? 1 : 0 as UInt8)
        case .integer(let value): append(value)
        case .double(let value): append(value.bitPattern)
        case .text(let value): append(utf8: value)
        case .bytes(let value): append(value.span)
        case .uuid(let high, let low):
            append(high)
            append(low)
        case .timestamp(let value): append(value &- postgresEpochMicroseconds)
        case .json(let value):
            append(1 as UInt8)  // the version of jsonb's binary form
            append(utf8: value)
        case .array(let type, let values): append(values, of: type)
        }
    }

    /// Writes an array for array_recv: dimensions, null flag, element type, length, lower bound, then each element with
    /// its length.
    private mutating func append(_ values: [SQLValue], of type: SQLType) {
        append(Int32(values.isEmpty ? 0 : 1))
        append(Int32(values.contains { $0.isNull } ? 1 : 0))
        append(type.oid)
        guard !values.isEmpty else { return }
        append(Int32(clamping: values.count))
        append(Int32(1))
        for value in values {
            append(value.isNull ? -1 : Int32(clamping: value.binaryLength))
            append(value)
        }
    }

    mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        precondition(unsafe memory.count - byteCount >= MemoryLayout<Value>.size)
        unsafe memory.storeBytes(of: value.bigEndian, toByteOffset: byteCount, as: Value.self)
        byteCount += MemoryLayout<Value>.size
    }

    private mutating func append(utf8 text: String) {
        var text = text
        text.makeContiguousUTF8()
        append(text.utf8Span.span)
    }

    private mutating func append(_ bytes: Span<UInt8>) {
        precondition(unsafe memory.count - byteCount >= bytes.count)
        unsafe bytes.withUnsafeBytes { source in
            unsafe UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...]).copyMemory(from: source)
        }
        byteCount += bytes.count
    }
}

extension SQLValue {
    fileprivate var isNull: Bool { if case .null = self { true } else { false } }

    /// The number of bytes in PostgreSQL's binary format, without a length prefix.
    fileprivate var binaryLength: Int {
        switch self {
        case .null: 0
        case .boolean: 1
        case .integer, .double, .timestamp: 8
        case .uuid: 16
        case .text(let value): value.utf8.count
        case .bytes(let value): value.count
        case .json(let value): 1 + value.utf8.count
        case .array(_, let values):
            values.reduce(values.isEmpty ? 12 : 20) { $0 + 4 + $1.binaryLength }
        }
    }
}

/// The epoch of PostgreSQL's timestamps, 2000-01-01T00:00:00Z, in microseconds since 1970.
let postgresEpochMicroseconds: Int64 = 946_684_800_000_000

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
