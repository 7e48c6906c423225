@testable import HTTP

/// Everything a parser said about some bytes, in a form that does not depend on how they were cut.
func transcript(_ pieces: [ArraySlice<UInt8>], limits: Limits = Limits()) -> [String] {
    var parser = RequestParser(limits: limits)
    var lines: [String] = []
    var body: [UInt8] = []
    for piece in pieces {
        let bytes = [UInt8](piece)
        var position = 0
        reading: while true {
            do throws(HTTPRequestError) {
                switch try parser.advance(bytes.span, at: &position) {
                case .needsMoreData: break reading
                case .head(let head):
                    let fields = head.headers.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
                    let query = head.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
                    lines.append("\(head.method) \(head.path) ?\(query) \(head.framing) \(head.keepsAlive) \(fields)")
                case .body(let range): body += bytes[range]
                case .end:
                    lines.append("body \(String(decoding: body, as: UTF8.self))")
                    body = []
                }
            } catch {
                return lines + ["fault \(error)"]
            }
        }
    }
    return lines
}

func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
