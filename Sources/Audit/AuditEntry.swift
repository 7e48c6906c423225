import Domain

/// One entry of the audit log: who did what to what, when, and its link to the previous entry.
///
/// The details are not part of the entry. The entry contains a commitment to them (`commitment`), so that they can be
/// erased without breaking the chain.
public struct AuditEntry: Hashable, Sendable {
    /// The family whose chain this is, or the connection, whose ID takes the place of a family's; the nil ID for acts
    /// outside both.
    public var family: FamilyID
    /// The number within the chain: 1, 2, 3, … without gaps.
    public var number: Int64
    public var at: Timestamp
    public var act: Act
    /// The hash of the previous entry; SHA-256 of nothing for the first.
    public var previous: [UInt8]
    public var hash: [UInt8]

    /// The part of an entry that is known before the ledger assigns its number and time.
    public struct Act: Hashable, Sendable {
        /// The kind, such as `nag.created`.
        public var kind: String
        public var actor: Pseudonym
        /// The person whom the act concerns; nil where there is none.
        public var subject: Pseudonym?
        /// The ID of what the act created, changed or read, such as a nag; nil where there is no such thing.
        public var resource: ResourceID?
        public var trace: TraceID
        public var request: RequestID
        /// The commitment to the details: `AuditBody.commitment`.
        public var commitment: [UInt8]

        public init(
            kind: String, actor: Pseudonym, subject: Pseudonym?, resource: ResourceID?, trace: TraceID,
            request: RequestID, commitment: [UInt8]
        ) {
            self.kind = kind
            self.actor = actor
            self.subject = subject
            self.resource = resource
            self.trace = trace
            self.request = request
            self.commitment = commitment
        }

        /// The canonical bytes: every field, preceded by its length, in a fixed order.
        public var canonicalBytes: [UInt8] {
            var bytes = CanonicalBytes(reserving: 192)
            append(to: &bytes)
            return bytes.bytes
        }

        fileprivate func append(to bytes: inout CanonicalBytes) {
            bytes.append(text: kind)
            bytes.append(actor)
            bytes.append(subject)
            bytes.append(resource)
            bytes.append(trace)
            bytes.append(request)
            bytes.append(commitment)
        }
    }

    public init(
        family: FamilyID, number: Int64, at: Timestamp, act: Act, previous: [UInt8], hash: [UInt8]
    ) {
        self.family = family
        self.number = number
        self.at = at
        self.act = act
        self.previous = previous
        self.hash = hash
    }

    /// The value that `hash` must have: H(0x01 ‖ previous ‖ family ‖ number ‖ time ‖ act). The time counts microseconds
    /// since 2000-01-01T00:00:00Z, as PostgreSQL does, because the database computes the same hash while it writes.
    public var expectedHash: [UInt8] {
        var prefix: [UInt8] = []
        prefix.reserveCapacity(320)
        prefix.append(0x01)
        prefix += previous
        prefix.append(family)
        prefix.appendBigEndian(number)
        prefix.appendBigEndian(at.microseconds &- 946_684_800_000_000)
        var bytes = CanonicalBytes(after: prefix)
        act.append(to: &bytes)
        return sha256(bytes.bytes)
    }

    /// The `previous` of a chain's first entry.
    public static let genesisHash = sha256([])
}

/// The details of an act: names and values, bound to the entry by a salted commitment.
///
/// The details are stored in the order of the canonical bytes, which is the byte order of the names, so that adding
/// them in that order only appends.
public struct AuditBody: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private struct Detail: Hashable, Sendable {
        let name: String
        var value: String
    }

    private var details: [Detail] = []

    public init(_ details: [String: String]) {
        self.details.reserveCapacity(details.count)
        for (name, value) in details { self[name] = value }
    }

    /// Creates details. Of two values for one name the later one is kept.
    public init(dictionaryLiteral details: (String, String)...) {
        self.details.reserveCapacity(details.count)
        for (name, value) in details { self[name] = value }
    }

    public var dictionary: [String: String] {
        Dictionary(details.map { ($0.name, $0.value) }, uniquingKeysWith: { _, later in later })
    }

    /// The value of the detail with that name; nil without such a detail. Setting nil removes the detail.
    public subscript(name: String) -> String? {
        get { details.first { $0.name == name }?.value }
        set {
            var index = details.count
            while index > 0 {
                let order = name.compareUTF8(with: details[index - 1].name)
                if order > 0 { break }
                index -= 1
                guard order == 0 else { continue }
                if let newValue { details[index].value = newValue } else { details.remove(at: index) }
                return
            }
            guard let newValue else { return }
            // Enough for most acts.
            if details.isEmpty { details.reserveCapacity(16) }
            let detail = Detail(name: name, value: newValue)
            if index == details.count { details.append(detail) } else { details.insert(detail, at: index) }
        }
    }

    /// Adds the details of `other`, which replace those with the same name.
    public mutating func merge(_ other: AuditBody) {
        for detail in other.details { self[detail.name] = detail.value }
    }

    /// Returns the values of the details `<name>_1`, `<name>_2` and so on, up to the first that is missing.
    func numberedValues(_ name: String) -> [String] {
        var values: [String] = []
        while let value = self["\(name)_\(values.count + 1)"] { values.append(value) }
        return values
    }

    /// Sets the details `<name>_1`, `<name>_2` and so on. Those with a higher number are kept.
    public mutating func setNumberedValues(_ name: String, _ values: [String]) {
        for (index, value) in values.enumerated() { self["\(name)_\(index + 1)"] = value }
    }

    /// The canonical bytes: names in byte order, each name and value preceded by its length.
    public var canonicalBytes: [UInt8] {
        var bytes = CanonicalBytes(
            reserving: details.reduce(0) { $0 + 8 + $1.name.utf8.count + $1.value.utf8.count })
        for detail in details {
            bytes.append(text: detail.name)
            bytes.append(text: detail.value)
        }
        return bytes.bytes
    }

    /// Parses canonical bytes; nil when they are not canonical.
    public init?(canonical bytes: [UInt8]) {
        guard let fields = CanonicalBytes.split(bytes), fields.count.isMultiple(of: 2) else { return nil }
        for index in stride(from: 0, to: fields.count, by: 2) {
            guard let name = fields[index].flatMap(Self.decodeText),
                let value = fields[index + 1].flatMap(Self.decodeText),
                details.last.map({ $0.name.compareUTF8(with: name) < 0 }) ?? true
            else { return nil }
            details.append(Detail(name: name, value: value))
        }
        // Names that differ as bytes but are equal as text are refused: no writer creates them, and a reader would see
        // only one.
        guard dictionary.count == details.count else { return nil }
    }

    /// Decodes UTF-8; nil for invalid bytes.
    private static func decodeText(_ bytes: [UInt8]) -> String? {
        guard let text = try? UTF8Span(validating: bytes.span) else { return nil }
        return String(copying: text)
    }

    /// Returns the commitment H(0x02 ‖ salt ‖ body). Each entry has 32 random bytes of salt, so that a guess of the
    /// body cannot be checked once both are erased.
    public static func commitment(salt: [UInt8], body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1 + salt.count + body.count)
        bytes.append(0x02)
        bytes += salt
        bytes += body
        return sha256(bytes)
    }
}

extension String {
    /// Returns the order of two texts by the bytes of their UTF-8: negative where this text sorts before the other,
    /// positive where it sorts after it, 0 where they are equal.
    fileprivate func compareUTF8(with other: String) -> Int {
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                for index in 0..<min(left.count, right.count) where unsafe left[index] != right[index] {
                    return unsafe Int(left[index]) - Int(right[index])
                }
                return left.count - right.count
            }
        }
    }
}
