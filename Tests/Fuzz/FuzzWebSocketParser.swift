// Sources: Sources/WebSocketProtocol/{UTF8Validator,WebSocketFrame,WebSocketParser}.swift

/// What a parser said of some bytes: equal runs say equal things.
private struct Reading: Equatable {
    var events: [WebSocketParser.Event] = []
    var error: WebSocketError?
}

private func read(_ pieces: [ArraySlice<UInt8>], limit: Int) -> Reading {
    var parser = WebSocketParser(from: .client, messageLimit: limit)
    var reading = Reading()
    for piece in pieces {
        let bytes = [UInt8](piece)
        var position = 0
        while position < bytes.count {
            do throws(WebSocketError) {
                let event = try parser.advance(bytes.span, at: &position)
                precondition(parser.heldBytes <= limit + 125, "more than the limit is held")
                switch event {
                case .needsMoreData: precondition(position == bytes.count, "needsMoreData before the end of the input")
                case .message(let message):
                    precondition(message.bytes.count <= limit, "message above its limit")
                    if message.kind == .text {
                        precondition(String(validating: message.bytes, as: UTF8.self) != nil, "text that is not UTF-8")
                    }
                    reading.events.append(event)
                default: reading.events.append(event)
                }
            } catch {
                reading.error = error
                return reading
            }
        }
    }
    return reading
}

/// The parser must not crash, must hold no more than its limit, and must say the same however its input is cut. The
/// first two bytes choose the cut and the limit.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocketParser(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count >= 2 else { return 0 }
    let data = Array(UnsafeBufferPointer(start: start, count: count))
    let bytes = data[2...]
    let limit = data[0] & 1 == 1 ? 16 : 1_024
    let whole = read([bytes], limit: limit)
    let cut = 2 + (Int(data[0] >> 1) << 8 | Int(data[1])) % (bytes.count + 1)
    precondition(read([bytes[..<cut], bytes[cut...]], limit: limit) == whole, "two pieces read differently")
    if bytes.count < 400 {
        precondition(read(bytes.indices.map { bytes[$0...$0] }, limit: limit) == whole, "single bytes read differently")
    }
    return 0
}
