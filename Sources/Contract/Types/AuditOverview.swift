import Domain
import JSON

extension AuditActivity {
    /// The length of a bucket, in the calendar of the requested zone.
    public enum Unit: String, Sendable, CaseIterable, WireEnumeration { case minute, hour, day, week, month }
}

/// A body of any bytes, such as a picture or a tile of the Merkle log.
public struct Bytes: WireContent, Hashable {
    public static var form: ContentForm { .other }

    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public init(content: Span<UInt8>) { bytes = content.withUnsafeBufferPointer { Array($0) } }

    public var content: [UInt8] { bytes }
}
