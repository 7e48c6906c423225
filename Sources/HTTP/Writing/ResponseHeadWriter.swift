/// Writes the head of a response to a buffer.
struct ResponseHeadWriter {
    /// The way in which the end of the content is marked (RFC 9112 §6).
    enum Framing: Equatable {
        /// 1xx, 204 and 304: no content and no framing field.
        case none
        case length(Int)
        case chunked
        /// HTTP/1.0 with content of unknown length: closing the connection ends it.
        case untilClose
    }

    /// The value of the `Connection` field.
    enum Persistence {
        /// No field: the default of the HTTP version.
        case implicit
        case close
        /// The connection stays open, for HTTP/1.0 clients that asked for it.
        case keepAlive
        case upgrade
    }

    private static let statusLines: [[UInt8]] = (0..<600).map { code in
        [UInt8]("HTTP/1.1 \(code) \(Status(rawValue: UInt16(code)).phrase)\r\n".utf8)
    }

    static let continue100 = [UInt8]("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// - Parameter idField: the field for `id`; nil sends none.
    static func append(
        _ response: borrowing Response, id: RequestID, in idField: StaticString?, framing: Framing,
        persistence: Persistence, date: borrowing DateLine, to output: inout [UInt8]
    ) {
        let code = Int(response.status.rawValue)
        output.append(contentsOf: statusLines[code < 600 ? code : 500])
        output.append(contentsOf: date.bytes)
        if let idField {
            output.append(fixed: idField)
            output.append(fixed: ": ")
            output.append(hexadecimal: id.high)
            output.append(hexadecimal: id.low)
            output.append(fixed: "\r\n")
        }
        if let mediaType = response.mediaType { output.append(contentsOf: mediaType.headerLines) }
        var isCacheControlled = response.status == .switchingProtocols
        for field in response.fields {
            output.append(field)
            if field.name.utf8.count == 13, field.name.equalsIgnoringCase("cache-control") {
                isCacheControlled = true
            }
        }
        switch response.vary {
        case []: break
        case .origin: output.append(fixed: "Vary: Origin\r\n")
        case .acceptEncoding: output.append(fixed: "Vary: Accept-Encoding\r\n")
        default: output.append(fixed: "Vary: Origin, Accept-Encoding\r\n")
        }
        if !isCacheControlled { output.append(fixed: "Cache-Control: no-store\r\n") }
        switch persistence {
        case .implicit: break
        case .close: output.append(fixed: "Connection: close\r\n")
        case .keepAlive: output.append(fixed: "Connection: keep-alive\r\n")
        case .upgrade: output.append(fixed: "Connection: upgrade\r\n")
        }
        switch framing {
        case .none, .untilClose: output.append(fixed: "\r\n")
        case .length(let length):
            output.append(fixed: "Content-Length: ")
            output.append(decimal: length)
            output.append(fixed: "\r\n\r\n")
        case .chunked: output.append(fixed: "Transfer-Encoding: chunked\r\n\r\n")
        }
    }
}
