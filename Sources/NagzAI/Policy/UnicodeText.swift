// Unicode's data files for compatibility forms and look-alikes (UTS 39) are in the ICU that comes with the toolchain and
// that Foundation uses. The standard library has neither, and a copy of the data here would grow old.
import _FoundationICU

/// Mappings of Unicode, from the toolchain's ICU.
enum UnicodeText {
    /// NFKC_Casefold: compatibility forms, full case folding, and no default-ignorable character.
    static func caseFolded(_ text: String) -> String {
        mapped(text) { source, count, target, capacity, status in
            swift_unorm2_normalize(ICU.shared.caseFolding, source, count, target, capacity, status)
        }
    }

    /// The skeleton of UTS 39: texts that look alike have the same one.
    static func skeleton(_ text: String) -> String {
        mapped(text) { source, count, target, capacity, status in
            swift_uspoof_getSkeleton(ICU.shared.lookalikes, 0, source, count, target, capacity, status)
        }
    }

    /// Maps a text with ICU, which is called a second time if the first buffer is too small.
    private static func mapped(
        _ text: String,
        _ map: (UnsafePointer<UInt16>?, Int32, UnsafeMutablePointer<UInt16>?, Int32, UnsafeMutablePointer<UErrorCode>)
            ->
            Int32
    ) -> String {
        let source = Array(text.utf16)
        guard !source.isEmpty, let count = Int32(exactly: source.count) else { return text }
        var capacity = source.count + 64
        for _ in 0..<2 {
            var status = U_ZERO_ERROR
            var needed = 0
            let target = [UInt16](unsafeUninitializedCapacity: capacity) { buffer, length in
                needed = Int(map(source, count, buffer.baseAddress, Int32(clamping: capacity), &status))
                length = status.rawValue <= U_ZERO_ERROR.rawValue ? min(needed, capacity) : 0
            }
            if status.rawValue <= U_ZERO_ERROR.rawValue { return String(decoding: target, as: UTF16.self) }
            guard status == U_BUFFER_OVERFLOW_ERROR, needed > capacity else { break }
            capacity = needed
        }
        return text
    }
}

/// ICU's objects, which never change after they were opened.
private struct ICU: @unchecked Sendable {
    static let shared = ICU()

    let caseFolding: OpaquePointer?
    let lookalikes: OpaquePointer?

    private init() {
        var status = U_ZERO_ERROR
        caseFolding = swift_unorm2_getNFKCCasefoldInstance(&status)
        lookalikes = swift_uspoof_open(&status)
        // They are part of the program: without them no constraint could be trusted.
        precondition(status.rawValue <= U_ZERO_ERROR.rawValue, "the toolchain's ICU has no data")
    }
}
