// Sources: Sources/JSON/*.swift

/// Any bytes are refused, or read as a value that is written and read again as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let value = try? JSONValue(parsing: bytes.span) else { return 0 }
    let written = value.bytes
    precondition((try? JSONValue(parsing: written.span)) == value, "what was written reads as something else")
    precondition((try? JSONValue(parsing: written.span))?.bytes == written, "the second writing differs")
    return 0
}
