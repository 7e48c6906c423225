@testable import HTTP

/// Everything a parser said about some octets, in a form that does not depend on how they were cut.
func transcript(_ pieces: [ArraySlice<UInt8>], limits: Limits = Limits()) -> [String] {
    var parser = RequestParser(limits: limits)
    var lines: [String] = []
    var body: [UInt8] = []
    for piece in pieces {
        let octets = [UInt8](piece)
        var position = 0
        reading: while true {
            do throws(HTTPFault) {
                switch try parser.advance(octets.span, at: &position) {
                case .hungry: break reading
                case .head(let head):
                    let fields = head.headers.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
                    let query = head.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
                    lines.append("\(head.method) \(head.path) ?\(query) \(head.framing) \(head.keepsAlive) \(fields)")
                case .body(let range): body += octets[range]
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

func octets(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
