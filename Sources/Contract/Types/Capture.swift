import Domain
import JSON

/// The way in which a person's words were entered on their device.
public enum InputSource: String, Sendable, CaseIterable, WireEnumeration {
    case keyboard, dictation, camera, gallery, document, habit, onboarding
    /// The words were imported from another program.
    case imported = "import"
}

/// The place in a client where an input was entered. The server records it, and decides nothing by it.
public enum SourceContext: String, Sendable, CaseIterable, WireEnumeration {
    case dashboard, capture, habit, legacy, onboarding
    case imported = "import"
}

/// The origin of an input, as the device reports it. Its members are part of requests with a person's words.
public struct Capture: Hashable, Sendable {
    public static let confidenceRange = 0.0...1.0

    public var source: InputSource
    /// The device's confidence in the words, 0 to 1, such as after dictation; nil if it reports none.
    public var confidence: Double?
    public var context: SourceContext?

    public init(_ source: InputSource = .keyboard, confidence: Double? = nil, context: SourceContext? = nil) {
        self.source = source
        self.confidence = confidence
        self.context = context
    }

    /// The origin of typed words.
    public static let keyboard = Capture()

    public init(_ fields: FieldReader) throws(InvalidInput) {
        source = try fields.defaulted("source", to: .keyboard)
        confidence = try fields.optional("confidence")
        context = try fields.optional("source_context")
        if let confidence, !Self.confidenceRange.contains(confidence) {
            throw .confidenceIsOutOfRange
        }
    }

    /// Writes the members. A source `keyboard` is left out, because it is the default.
    func writeMembers(to json: inout JSONWriter) {
        json.fieldIfPresent("source", source == .keyboard ? nil : source)
        json.fieldIfPresent("confidence", confidence)
        json.fieldIfPresent("source_context", context)
    }
}
