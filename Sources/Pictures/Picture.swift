/// The picture formats that are accepted.
public enum PictureFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case gif = "image/gif"
    case webp = "image/webp"
    case heic = "image/heic"

    public var mediaType: String { rawValue }

    /// The format that the first bytes announce; nil for anything else.
    public init?(startOf bytes: [UInt8]) {
        if bytes.has("\u{89}PNG\r\n\u{1A}\n", at: 0) {
            self = .png
        } else if bytes.has("GIF87a", at: 0) || bytes.has("GIF89a", at: 0) {
            self = .gif
        } else if bytes.has("RIFF", at: 0), bytes.has("WEBP", at: 8) {
            self = .webp
        } else if bytes.count >= 3, bytes[0] == 0xFF, bytes[1] == 0xD8, bytes[2] == 0xFF {
            self = .jpeg
        } else if HEIC.isStart(of: bytes) {
            self = .heic
        } else {
            return nil
        }
    }
}

/// A reason for which bytes are no picture that is accepted.
public enum PictureError: Error, Sendable, Hashable, CaseIterable {
    /// None of the formats.
    case unknownFormat
    /// The structure breaks off, or breaks the format's rules.
    case malformed
    /// More pixels than `Picture.largestSide` and `Picture.mostPixels` allow: a small file may take gigabytes to decode.
    case tooManyPixels
}

/// A picture whose structure was checked, without what tells where, when and with what it was taken.
///
/// The format is found by content. Pixels are not decoded: the checks are of segments, chunks and lengths. Bytes after
/// the picture's end are removed, so that nothing else hides there.
public struct Picture: Sendable, Hashable {
    public static let largestSide = 32_767
    public static let mostPixels = 128 << 20
    /// Pixels that all frames of an animation, or all scans of a JPEG, draw together: each is as large as the picture.
    public static let mostDrawnPixels = 2 << 30

    public let format: PictureFormat
    public let bytes: [UInt8]

    /// Checks a picture and removes its metadata.
    ///
    /// - JPEG: keeps what decoding needs, and the JFIF and Adobe segments. A file that breaks off in a scan is ended there.
    /// - PNG, WebP: keeps what decoding and animation need.
    /// - GIF: removes comments and applications' data but the number of repetitions.
    /// - All but GIF: keeps the colours of the colour profile and nothing else of it (`ColourProfile`). All but GIF and HEIC,
    ///   which has a property for it: keeps the orientation of Exif.
    /// - HEIC: overwrites Exif, XMP, descriptions, times and unknown boxes with zeros, because tables in the file point to places in it.
    public init(cleaning bytes: [UInt8]) throws(PictureError) {
        guard let format = PictureFormat(startOf: bytes) else { throw .unknownFormat }
        self.format = format
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var reader = ByteReader(bytes, bytes.indices)
        switch format {
        case .jpeg: try JPEG.clean(&reader, into: &output)
        case .png: try PNG.clean(&reader, into: &output)
        case .gif: try GIF.clean(&reader, into: &output)
        case .webp: try WebP.clean(&reader, into: &output)
        case .heic: try HEIC.clean(&reader, into: &output)
        }
        self.bytes = output
    }

    static func checkSize(width: Int, height: Int) throws(PictureError) {
        guard width > 0, height > 0 else { throw .malformed }
        guard width <= largestSide, height <= largestSide, width * height <= mostPixels else { throw .tooManyPixels }
    }

    /// - Parameter count: the frames or scans so far, no more than the file has bytes.
    static func checkFrames(_ count: Int, pixels: Int) throws(PictureError) {
        guard count <= mostDrawnPixels / max(1, pixels) else { throw .tooManyPixels }
    }
}
