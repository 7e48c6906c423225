import Glibc

/// An answer as a client reads it off the wire.
struct Answer: Equatable {
    var status: Int
    var fields: [(name: String, value: String)]
    var body: [UInt8]

    subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }
    func all(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name }.map(\.value) }
    var text: String { String(decoding: body, as: UTF8.self) }

    static func == (left: Answer, right: Answer) -> Bool {
        left.status == right.status && left.body == right.body && left.fields.map(\.name) == right.fields.map(\.name)
    }
}

extension [UInt8] {
    /// Where `text` begins, each time. For long answers: the library's search takes seconds for them under the sanitizer.
    func places(of text: String) -> [Int] {
        let sought = Array<UInt8>(text.utf8)
        return withUnsafeBytes { bytes in
            var places: [Int] = []
            guard let start = bytes.baseAddress else { return places }
            var next = 0
            while next + sought.count <= count,
                let found = memchr(start + next, Int32(sought[0]), count - sought.count - next + 1)
            {
                next = UnsafeRawPointer(found) - start
                if memcmp(found, sought, sought.count) == 0 { places.append(next) }
                next += 1
            }
            return places
        }
    }
}

/// Reads all answers of a connection. `methods` tells which of them answer a HEAD, in order.
func answers(in wire: [UInt8], heads: Set<Int> = []) -> [Answer] {
    var rest = wire[...]
    var answers: [Answer] = []
    while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
        let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let status = Int(lines[0].split(separator: " ")[1]) ?? 0
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: String(parts[1].dropFirst()))
        }
        rest = rest[end.upperBound...]
        var answer = Answer(status: status, fields: fields, body: [])
        if answer["transfer-encoding"] == "chunked" {
            while let line = rest.firstRange(of: Array("\r\n".utf8)),
                let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16)
            {
                answer.body += rest[line.upperBound..<line.upperBound + size]
                rest = rest[(line.upperBound + size + 2)...]
                if size == 0 { break }
            }
        } else if let length = answer["content-length"].flatMap({ Int($0) }), !heads.contains(answers.count) {
            answer.body = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
        } else if answer["content-length"] == nil, status == 200 {
            answer.body = Array(rest)
            rest = []
        }
        answers.append(answer)
    }
    return answers
}
