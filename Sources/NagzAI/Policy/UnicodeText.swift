// Unicode's data files for compatibility forms and look-alikes (UTS 39) are in the ICU that comes with the toolchain
// and that Foundation uses. The standard library has neither, and a copy of the data here would become outdated.
import _FoundationICU

/// Mappings of Unicode, from the toolchain's ICU.
enum UnicodeText {
    /// Returns the NFKC_Casefold of a text: compatibility forms, full case folding, and no default-ignorable character.
    static func caseFolded(_ text: String) -> String {
        transform(text) { source, count, target, capacity, status in
            swift_unorm2_normalize(ICU.shared.caseFoldNormalizer, source, count, target, capacity, status)
        }
    }

    /// Returns the skeleton of UTS 39, which is equal for texts that look alike.
    static func skeleton(_ text: String) -> String {
        transform(text) { source, count, target, capacity, status in
            swift_uspoof_getSkeleton(ICU.shared.spoofChecker, 0, source, count, target, capacity, status)
        }
    }

    /// Transforms a text with a function of ICU. The function is called a second time if the first buffer is too small.
    /// If it fails, the text is returned unchanged.
    private static func transform(
        _ text: String,
        _ function: (
            UnsafePointer<UInt16>?, Int32, UnsafeMutablePointer<UInt16>?, Int32, UnsafeMutablePointer<UErrorCode>
        )
            ->
            Int32
    ) -> String {
        let source = Array(text.utf16)
        guard !source.isEmpty, let count = Int32(exactly: source.count) else { return text }
        var capacity = source.count + 64
        for _ in 0..<2 {
            var status = U_ZERO_ERROR
            var neededLength = 0
            let target = [UInt16](unsafeUninitializedCapacity: capacity) { buffer, length in
                neededLength = Int(function(source, count, buffer.baseAddress, Int32(clamping: capacity), &status))
                length = status.rawValue <= U_ZERO_ERROR.rawValue ? min(neededLength, capacity) : 0
            }
            if status.rawValue <= U_ZERO_ERROR.rawValue { return String(decoding: target, as: UTF16.self) }
            guard status == U_BUFFER_OVERFLOW_ERROR, neededLength > capacity else { break }
            capacity = neededLength
        }
        return text
    }
}

/// ICU's objects, which are immutable once opened.
private struct ICU: @unchecked Sendable {
    static let shared = ICU()

    let caseFoldNormalizer: OpaquePointer?
    let spoofChecker: OpaquePointer?

    private init() {
        var status = U_ZERO_ERROR
        caseFoldNormalizer = swift_unorm2_getNFKCCasefoldInstance(&status)
        spoofChecker = swift_uspoof_open(&status)
        // The data is part of the program. Without it constraints could be evaded.
        precondition(status.rawValue <= U_ZERO_ERROR.rawValue, "the toolchain's ICU has no data")
    }
}
