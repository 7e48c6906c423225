// Sources: Sources/HTTP/Parsing/*.swift Sources/HTTP/Message/{Method,Status,HTTPRequestError,Limits,RequestHead,Headers,Query}.swift

/// What a parser said of some bytes: equal runs say equal things.
private struct Reading: Equatable {
    var heads: [String] = []
    var bodies: [[UInt8]] = [[]]
    var fault: HTTPRequestError?
    /// Bytes taken before the fault, or all of them.
    var taken = 0
}

private func read(_ pieces: [ArraySlice<UInt8>], _ limits: Limits) -> Reading {
    var parser = RequestParser(limits: limits)
    var reading = Reading()
    for piece in pieces {
        let bytes = [UInt8](piece)
        var position = 0
        reading: while true {
            do throws(HTTPRequestError) {
                switch try parser.advance(bytes.span, at: &position) {
                case .needsMoreData: break reading
                case .head(let head):
                    let fields = head.headers.map { "\($0.name)=\($0.value)" }
                    let query = head.query.map { "\($0.name)=\($0.value)" }
                    reading.heads.append("\(head.method) \(head.path) \(query) \(head.framing) \(head.flags) \(fields)")
                case .body(let range):
                    // A range outside the input would trap here.
                    reading.bodies[reading.bodies.count - 1] += bytes[range]
                    precondition(
                        reading.bodies[reading.bodies.count - 1].count <= limits.maxBodyBytes, "body above its limit")
                case .end: reading.bodies.append([])
                }
            } catch {
                reading.fault = error
                reading.taken += position
                return reading
            }
        }
        precondition(position == bytes.count, "needsMoreData before the end of the input")
        reading.taken += position
    }
    return reading
}

/// The parser must not crash, and must say the same however its input is cut. The first two bytes choose the cut and
/// the limits: small ones bring the bounds within reach.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRequestParser(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count >= 2 else { return 0 }
    let data = Array(UnsafeBufferPointer(start: start, count: count))
    let bytes = data[2...]
    var limits = Limits()
    if data[0] & 1 == 1 {
        limits.maxRequestLineBytes = 40
        limits.maxHeadBytes = 120
        limits.maxFields = 4
        limits.maxBodyBytes = 64
        limits.maxChunkLineBytes = 8
    }
    let whole = read([bytes], limits)
    let cut = 2 + (Int(data[0] >> 1) << 8 | Int(data[1])) % (bytes.count + 1)
    precondition(read([bytes[..<cut], bytes[cut...]], limits) == whole, "two pieces read differently")
    if bytes.count < 400 {
        let single = bytes.indices.map { bytes[$0...$0] }
        precondition(read(single, limits) == whole, "single bytes read differently")
    }
    return 0
}
