import Domain

/// A time zone from a file of the IANA database (TZif, RFC 9636): the changes of its clock, and the rule that applies
/// after the last of them.
struct ZoneFile: ZoneRules {
    /// The times at which the offset changes, in seconds since the epoch, ascending.
    private let changes: [Int64]
    /// The offset from UTC from each change on, in seconds; as many elements as `changes`.
    private let offsets: [Int32]
    /// The offset from UTC before the first change, in seconds.
    private let firstOffset: Int32
    /// The rule after the last change; nil if the last offset is permanent.
    private let rule: RecurringClockChange?

    func secondsFromUTC(at moment: Timestamp) -> Int {
        let seconds = moment.seconds
        guard let last = changes.last else { return rule?.secondsFromUTC(at: seconds) ?? Int(firstOffset) }
        if seconds >= last, let rule { return rule.secondsFromUTC(at: seconds) }
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = low + (high - low) / 2
            if changes[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        return Int(low == 0 ? firstOffset : offsets[low - 1])
    }
}

// MARK: Reading

extension ZoneFile {
    /// The maximum number of bytes of a file; the largest file of the database has 4 KB.
    static let sizeLimit = 65_536

    /// Reads the 64-bit part of a file.
    ///
    /// Nil for bytes that are not a TZif file of version 2 or later, and for a file that counts leap seconds.
    init?(_ bytes: [UInt8]) {
        var reader = BigEndianReader(bytes)
        guard let firstHeader = Header(&reader), firstHeader.version >= Header.secondVersion,
            reader.skip(firstHeader.bodySize(timeSize: 4)), let header = Header(&reader), header.leapSecondCount == 0,
            header.typeCount > 0, header.bodySize(timeSize: 8) <= reader.remainingBytes
        else { return nil }
        var changes: [Int64] = []
        changes.reserveCapacity(header.changeCount)
        for _ in 0..<header.changeCount {
            guard let change = reader.readInt64(), changes.last.map({ $0 < change }) ?? true else { return nil }
            changes.append(change)
        }
        var typeIndices: [Int] = []
        typeIndices.reserveCapacity(header.changeCount)
        for _ in 0..<header.changeCount {
            guard let type = reader.readByte(), type < header.typeCount else { return nil }
            typeIndices.append(Int(type))
        }
        var offsetsOfTypes: [Int32] = []
        for _ in 0..<header.typeCount {
            guard let offset = reader.readInt32(), RecurringClockChange.offsetRange.contains(Int(offset)),
                reader.skip(2)
            else { return nil }
            offsetsOfTypes.append(offset)
        }
        guard
            reader.skip(
                header.designationBytes + header.standardIndicatorCount + header.universalIndicatorCount),
            let footer = reader.readFooter()
        else { return nil }
        if footer.isEmpty {
            rule = nil
        } else {
            guard let rule = RecurringClockChange(footer) else { return nil }
            self.rule = rule
        }
        self.changes = changes
        offsets = typeIndices.map { offsetsOfTypes[$0] }
        firstOffset = offsetsOfTypes[0]
    }

    /// The header of a part of a file: the version, and the sizes of the lists that follow.
    private struct Header {
        static let secondVersion = UInt8(ascii: "2")

        let version: UInt8
        let universalIndicatorCount, standardIndicatorCount, leapSecondCount, changeCount, typeCount: Int
        /// The number of bytes of all abbreviations of the zone.
        let designationBytes: Int

        init?(_ reader: inout BigEndianReader) {
            guard reader.skip(Array("TZif".utf8)), let version = reader.readByte(), reader.skip(15),
                let universal = reader.readCount(), let standard = reader.readCount(), let leaps = reader.readCount(),
                let changes = reader.readCount(), let types = reader.readCount(), let designations = reader.readCount()
            else { return nil }
            self.version = version
            (universalIndicatorCount, standardIndicatorCount, leapSecondCount) = (universal, standard, leaps)
            (changeCount, typeCount, designationBytes) = (changes, types, designations)
        }

        /// Returns the number of bytes of the lists that follow if a time has `timeSize` bytes. Each count is at most
        /// `ZoneFile.sizeLimit`.
        func bodySize(timeSize: Int) -> Int {
            changeCount * (timeSize + 1) + typeCount * 6 + designationBytes + leapSecondCount * (timeSize + 4)
                + standardIndicatorCount + universalIndicatorCount
        }
    }

    /// Reads the numbers of a file. At the end of the file, each method returns nil or false.
    private struct BigEndianReader {
        private let bytes: [UInt8]
        private var position = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var remainingBytes: Int { bytes.count - position }

        mutating func readByte() -> UInt8? {
            guard remainingBytes >= 1 else { return nil }
            position += 1
            return bytes[position - 1]
        }

        mutating func readInt32() -> Int32? {
            guard remainingBytes >= 4 else { return nil }
            position += 4
            return Int32(bitPattern: bytes[position - 4..<position].reduce(0) { $0 << 8 | UInt32($1) })
        }

        mutating func readInt64() -> Int64? {
            guard remainingBytes >= 8 else { return nil }
            position += 8
            return Int64(bitPattern: bytes[position - 8..<position].reduce(0) { $0 << 8 | UInt64($1) })
        }

        /// Reads a count; nil also if it is negative or above `ZoneFile.sizeLimit`.
        mutating func readCount() -> Int? {
            guard let count = readInt32(), 0...Int32(ZoneFile.sizeLimit) ~= count else { return nil }
            return Int(count)
        }

        mutating func skip(_ count: Int) -> Bool {
            guard count <= remainingBytes else { return false }
            position += count
            return true
        }

        /// Skips the expected bytes; returns false if others come.
        mutating func skip(_ expected: [UInt8]) -> Bool {
            guard bytes[position...].starts(with: expected) else { return false }
            position += expected.count
            return true
        }

        /// Reads the line at the end of the file: the rule, or nothing.
        mutating func readFooter() -> String? {
            guard remainingBytes >= 2, bytes[position] == UInt8(ascii: "\n"), bytes.last == UInt8(ascii: "\n") else {
                return nil
            }
            return String(validating: bytes[(position + 1)..<(bytes.count - 1)], as: UTF8.self)
        }
    }
}
