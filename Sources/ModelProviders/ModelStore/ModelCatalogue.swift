import JSON
import LoopbackClient

/// A file of a model that may be downloaded, as a catalogue describes it.
public struct ModelFile: Hashable, Sendable {
    /// The size of the model: the larger one, or the one for a device with little memory.
    public enum Variant: String, Sendable, CaseIterable { case standard, lite }

    /// The ID, which is also the file's name without its extension: 1 to 64 lower-case letters, digits, `.`, `-` and
    /// `_`, with a letter or digit first.
    public let id: String
    public let variant: Variant
    /// The URL: `https`, or `http` on this machine.
    public let url: String
    /// The size of the file in bytes.
    public let byteCount: Int64
    /// The file's SHA-256 checksum, which has 32 bytes.
    public let sha256: [UInt8]
    /// The maximum number of tokens of a prompt and its answer together.
    public let contextTokens: Int
    /// The licence, in the catalogue's own words: 1 to 200 characters.
    public let licence: String

    /// Whether the file comes from this machine.
    var isOnLoopback: Bool { url.hasPrefix("http://") || LoopbackURL(url) != nil }
}

/// The model files that a person can choose from: the content of `models.json`. The program has no catalogue of its
/// own.
///
/// `{"models":[{"id":"small","variant":"lite","url":"https://…","bytes":…,"sha256":"…","context":2048,"licence":"…"}]}`
public struct ModelCatalogue: Hashable, Sendable {
    public let models: [ModelFile]

    /// The maximum size of a model file in bytes.
    public static let maxModelBytes: Int64 = 1 << 40
    /// The maximum size of a catalogue in bytes.
    public static let maxCatalogueBytes = 1 << 20

    /// Parses a catalogue.
    /// - Throws: the first fault: no list of at most 100 models, a value out of its range, an ID that occurs twice, or
    ///   a standard model that is not larger than every lite one.
    public init(parsing bytes: [UInt8]) throws(CatalogueError) {
        guard bytes.count <= Self.maxCatalogueBytes, let document = try? JSONValue(parsing: bytes),
            let entries = document["models"]?.arrayValue, entries.count <= 100
        else { throw CatalogueError("models", "takes a list of at most 100 models") }
        var models: [ModelFile] = []
        for (index, entry) in entries.enumerated() {
            let model = try ModelFile(entry, "models[\(index)]")
            guard !models.contains(where: { $0.id == model.id }) else {
                throw CatalogueError("models[\(index)].id", "occurs twice: \(model.id)")
            }
            models.append(model)
        }
        let largestLite = models.filter { $0.variant == .lite }.map(\.byteCount).max() ?? 0
        if let index = models.firstIndex(where: { $0.variant == .standard && $0.byteCount <= largestLite }) {
            throw CatalogueError("models[\(index)].bytes", "of a standard model must be above that of every lite one")
        }
        self.models = models
    }

    /// The model with an ID; nil if the catalogue does not have it.
    public subscript(id: String) -> ModelFile? { models.first { $0.id == id } }
}

/// A fault of a catalogue.
public struct CatalogueError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the field, such as `models[0].url`.
    public let field: String
    /// What is wrong, as words that follow the field, such as `takes standard or lite`.
    public let problem: String

    init(_ field: String, _ problem: String) { (self.field, self.problem) = (field, problem) }

    public var description: String { "\(field) \(problem)" }
}

extension ModelFile {
    fileprivate init(_ entry: JSONValue, _ place: String) throws(CatalogueError) {
        func text(_ name: String, _ problem: String, _ allows: (String) -> Bool) throws(CatalogueError) -> String {
            guard let text = entry[name]?.stringValue, allows(text) else {
                throw CatalogueError("\(place).\(name)", problem)
            }
            return text
        }
        func number(_ name: String, _ range: ClosedRange<Int64>) throws(CatalogueError) -> Int64 {
            guard let number = entry[name]?.integerValue, range.contains(number) else {
                throw CatalogueError(
                    "\(place).\(name)", "takes a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        id = try text("id", "takes 1 to 64 of a-z, 0-9, “.”, “-” and “_”, a letter or digit first", Self.isID)
        let variant = try text("variant", "takes standard or lite") { Variant(rawValue: $0) != nil }
        self.variant = Variant(rawValue: variant) ?? .lite
        url = try text("url", "takes an https URL, or an http URL on 127.0.0.1", Self.isDownloadURL)
        byteCount = try number("bytes", 1...ModelCatalogue.maxModelBytes)
        let digest = try text("sha256", "takes 64 hexadecimal digits") { Self.bytes(hexadecimal: $0) != nil }
        sha256 = Self.bytes(hexadecimal: digest) ?? []
        contextTokens = Int(try number("context", 256...10_000_000))
        licence = try text("licence", "takes 1 to 200 characters") { (1...200).contains($0.unicodeScalars.count) }
    }

    /// Whether a text is a valid ID, which can be used as a file's name.
    private static func isID(_ text: String) -> Bool {
        func isLetterOrDigit(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) }
        return (1...64).contains(text.utf8.count) && text.utf8.first.map(isLetterOrDigit) == true
            && text.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }

    /// Whether a text is a URL from which a model may be downloaded.
    private static func isDownloadURL(_ text: String) -> Bool {
        guard text.utf8.count <= 2_000 else { return false }
        if text.hasPrefix("http://") { return LoopbackURL(text) != nil }
        let rest = text.dropFirst("https://".utf8.count)
        return text.hasPrefix("https://") && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            && !rest.contains { "@\\#".contains($0) } && rest.first.map { !"/?:".contains($0) } == true
    }

    /// Returns the 32 bytes of a checksum in hexadecimal digits; nil for any other text.
    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = text.utf8.map { Int8(truncatingIfNeeded: Character(Unicode.Scalar($0)).hexDigitValue ?? -1) }
        guard digits.count == 64, !digits.contains(-1) else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0]) << 4 | UInt8(digits[$0 + 1]) }
    }
}
