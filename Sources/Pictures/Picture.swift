/// An accepted picture format.
public enum PictureFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case gif = "image/gif"
    case webp = "image/webp"
    case heic = "image/heic"

    public var mediaType: String { rawValue }

    /// Recognises the format by the first bytes; nil for any other format.
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

/// A reason why bytes are not an accepted picture.
public enum PictureError: Error, Sendable, Hashable, CaseIterable {
    /// The format is not an accepted one.
    case unknownFormat
    /// The structure is incomplete, or violates the format's rules.
    case malformed
    /// More pixels than `sideLimit`, `pixelLimit` or `drawnPixelLimit` of `Picture` allows: a small file may take
    /// gigabytes to decode.
    case tooManyPixels
}

/// A picture whose structure was checked, without metadata such as the place, the time and the device.
///
/// The format is recognised by content. Pixels are not decoded: only segments, chunks and lengths are checked. Bytes
/// after the picture's end are removed, because they could hide other data.
public struct Picture: Sendable, Hashable {
    /// The largest width and height, in pixels.
    public static let sideLimit = 32_767
    /// The largest number of pixels of a picture.
    public static let pixelLimit = 128 << 20
    /// The largest number of pixels that all frames of an animation, or all scans of a JPEG, draw together. Each frame
    /// or scan counts as large as the picture: a GIF is as large as its screen with all frames so far.
    public static let drawnPixelLimit = 2 << 30

    public let format: PictureFormat
    public let bytes: [UInt8]

    /// Checks a picture and removes its metadata.
    ///
    /// - JPEG: keeps what decoding needs, and the JFIF and Adobe segments. A file that is cut off in a scan ends there.
    /// - PNG, WebP: keeps what decoding and animation need.
    /// - GIF: removes comments, plain texts and applications' data, except for the number of repetitions.
    /// - All but GIF: keep only the colours of the colour profile (`ColourProfile`).
    /// - JPEG, PNG, WebP: keep the orientation of Exif, for which HEIC has a property.
    /// - HEIC: overwrites Exif, XMP, descriptions, times and unknown boxes with zeros, because tables in the file
    ///   contain offsets into it.
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

    /// Checks a width and a height in pixels.
    /// - Throws: `malformed` if one of them is 0, `tooManyPixels` if they exceed a limit.
    static func checkSize(width: Int, height: Int) throws(PictureError) {
        guard width > 0, height > 0 else { throw .malformed }
        guard width <= sideLimit, height <= sideLimit, width * height <= pixelLimit else { throw .tooManyPixels }
    }

    /// Checks the number of pixels that frames or scans draw together.
    /// - Parameters:
    ///   - count: the number of frames or scans so far.
    ///   - pixelsPerFrame: the number of pixels of the picture.
    static func checkDrawnPixels(frames count: Int, pixelsPerFrame: Int) throws(PictureError) {
        guard count <= drawnPixelLimit / max(1, pixelsPerFrame) else { throw .tooManyPixels }
    }
}
