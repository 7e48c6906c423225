/// A 128-bit identifier, printed and parsed as a UUID.
///
/// The type parameter prevents that a nag's ID is passed where a user's ID is expected. Parsing accepts upper and lower
/// case (clients send both); printing uses lower case.
public struct Identifier<Kind>: Hashable, Sendable {
    /// The first eight bytes, the most significant one first.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let parsed = text.withUTF8({ parseUUID($0) }) else { return nil }
        self = Self(high: parsed.high, low: parsed.low)
    }

    /// Returns the same bits as an identifier of another kind, for values that serve as both.
    public func retyped<Other>(as _: Other.Type = Other.self) -> Identifier<Other> {
        Identifier<Other>(high: high, low: low)
    }

    /// The sixteen bytes, most significant first (RFC 9562, section 4).
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(self)
        return bytes
    }
}

extension [UInt8] {
    /// Appends the sixteen bytes of an identifier, most significant first.
    @inlinable
    public mutating func append<Kind>(_ id: Identifier<Kind>) {
        appendBigEndian(id.high)
        appendBigEndian(id.low)
    }

    @inlinable
    public mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
    }
}

/// The kinds of things that have an identifier.
public enum Kind {
    public enum User {}
    /// A signed-in session of a person.
    public enum Session {}
    public enum Family {}
    public enum Nag {}
    /// An event of a family, as the feed contains it: of a nag, a mediation or gamification.
    public enum Event {}
    public enum Excuse {}
    /// An act or words of a person, through any channel.
    public enum Input {}
    public enum Consent {}
    public enum Block {}
    public enum Relationship {}
    public enum AbuseReport {}
    public enum Policy {}
    /// A change of a policy that its owners have to approve.
    public enum PolicyProposal {}
    public enum PolicyApproval {}
    public enum IncentiveRule {}
    /// An effect of an incentive rule, and the gamification event that it causes.
    public enum IncentiveEvent {}
    public enum Badge {}
    public enum Connection {}
    /// A phone or computer that push messages go to.
    public enum Device {}
    /// An uploaded picture.
    public enum Attachment {}
    /// A notification for a person's devices.
    public enum Delivery {}
    /// A rule of a family or a person about which questions the AI may answer, and where.
    public enum Constraint {}
    /// A question to the AI.
    public enum Question {}
    /// An attempt to answer a question to the AI.
    public enum Execution {}
    /// An action that the AI proposes and a person approves.
    public enum Draft {}
    /// A batch of drafts that were made from one import.
    public enum Import {}
    /// A fault of the audit log that the server keeps until an administrator acknowledges it.
    public enum AuditFinding {}
    /// A person's pseudonym in the audit log. Erasure removes its link to the person.
    public enum Pseudonym {}
    /// A request together with everything that it causes (W3C Trace Context).
    public enum Trace {}
    public enum Request {}
    /// A server process.
    public enum ServerProcess {}
    /// A resource of any kind (in audit entries).
    public enum Resource {}
}

public typealias UserID = Identifier<Kind.User>
public typealias SessionID = Identifier<Kind.Session>
public typealias FamilyID = Identifier<Kind.Family>
public typealias NagID = Identifier<Kind.Nag>
public typealias EventID = Identifier<Kind.Event>
public typealias ExcuseID = Identifier<Kind.Excuse>
public typealias InputID = Identifier<Kind.Input>
public typealias ConsentID = Identifier<Kind.Consent>
public typealias BlockID = Identifier<Kind.Block>
public typealias RelationshipID = Identifier<Kind.Relationship>
public typealias AbuseReportID = Identifier<Kind.AbuseReport>
public typealias PolicyID = Identifier<Kind.Policy>
public typealias PolicyProposalID = Identifier<Kind.PolicyProposal>
public typealias PolicyApprovalID = Identifier<Kind.PolicyApproval>
public typealias IncentiveRuleID = Identifier<Kind.IncentiveRule>
public typealias IncentiveEventID = Identifier<Kind.IncentiveEvent>
public typealias BadgeID = Identifier<Kind.Badge>
public typealias ConnectionID = Identifier<Kind.Connection>
public typealias DeviceID = Identifier<Kind.Device>
public typealias AttachmentID = Identifier<Kind.Attachment>
public typealias DeliveryID = Identifier<Kind.Delivery>
public typealias ConstraintID = Identifier<Kind.Constraint>
public typealias QuestionID = Identifier<Kind.Question>
public typealias ExecutionID = Identifier<Kind.Execution>
public typealias DraftID = Identifier<Kind.Draft>
public typealias ImportID = Identifier<Kind.Import>
public typealias AuditFindingID = Identifier<Kind.AuditFinding>
public typealias Pseudonym = Identifier<Kind.Pseudonym>
public typealias TraceID = Identifier<Kind.Trace>
public typealias RequestID = Identifier<Kind.Request>
public typealias ResourceID = Identifier<Kind.Resource>

extension Identifier: Comparable {
    /// The order of PostgreSQL's `uuid` type: by bytes.
    public static func < (left: Self, right: Self) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}

extension Identifier: CustomStringConvertible {
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                let word = index < 16 ? high : low
                let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (index % 16))) & 15
                buffer[position] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
                position += 1
            }
            return position
        }
    }
}

private func parseUUID(_ text: UnsafeBufferPointer<UInt8>) -> (high: UInt64, low: UInt64)? {
    guard text.count == 36 else { return nil }
    var words: (high: UInt64, low: UInt64) = (0, 0)
    var position = 0
    for byte in text {
        switch position {
        case 8, 13, 18, 23:
            guard byte == UInt8(ascii: "-") else { return nil }
        default:
            guard let nibble = hexadecimalValue(byte) else { return nil }
            if position < 19 {
                words.high = words.high << 4 | UInt64(nibble)
            } else {
                words.low = words.low << 4 | UInt64(nibble)
            }
        }
        position += 1
    }
    return words
}

/// Returns the value of an ASCII hexadecimal digit; nil for any other byte.
public func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
