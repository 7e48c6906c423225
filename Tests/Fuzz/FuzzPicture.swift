// Sources: Sources/Pictures/*.swift

/// Any bytes are refused or cleaned, without a crash; what is clean is a picture of the same format, cleans to itself,
/// and is hardly longer (by an orientation of its own).
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPicture(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let picture = try? Picture(cleaning: bytes) else { return 0 }
    precondition(picture.bytes.count <= bytes.count + 36, "a cleaned picture grew")
    precondition((try? Picture(cleaning: picture.bytes)) == picture, "a cleaned picture is not clean")
    return 0
}
