// Sources: Sources/HTTP/Parsing/ByteClasses.swift Sources/HTTP/Multipart/*.swift

/// The boundary and the form must be refused or read, without a crash: parts in order, within the limits, none of which
/// holds a delimiter. The first line of the input is the Content-Type, the rest the body.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMultipartForm(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let data = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let end = data.firstIndex(of: 0x0A) else { return 0 }
    let (contentType, body) = ([UInt8](data[..<end]), [UInt8](data[(end + 1)...]))
    guard let boundary = try? MultipartBoundary(contentType: contentType.span) else { return 0 }
    precondition((1...70).contains(boundary.bytes.count), "a boundary over its limit")
    var limits = MultipartForm.Limits()
    (limits.maxParts, limits.maxPartHeadBytes) = (4, 200)
    guard let form = try? MultipartForm(parsing: body.span, boundary, limits: limits) else { return 0 }
    precondition(form.parts.count <= limits.maxParts, "parts over their limit")
    let delimiter = [UInt8]("\r\n--".utf8) + boundary.bytes
    var position = 0
    for part in form.parts {
        precondition(part.content.lowerBound > position, "parts overlap")
        position = part.content.upperBound
        precondition(!body[part.content].contains(delimiter), "a part holds a delimiter")
        precondition(body[position...].starts(with: delimiter) || part.content.isEmpty, "a part ends elsewhere")
    }
    return 0
}

extension ArraySlice<UInt8> {
    fileprivate func contains(_ text: [UInt8]) -> Bool { indices.contains { self[$0...].starts(with: text) } }
}
