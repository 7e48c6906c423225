extension Span where Element == UInt8 {
    /// Returns the value of the first `Origin` line; nil if there is none. The bytes up to the first line end are
    /// skipped, and an empty line ends the search.
    ///
    /// It is used for heads that are refused before all of their fields are parsed. Only CORS headers may depend on it.
    func originLineValue() -> String? {
        var start = 0
        while let end = lineEnd(from: start) {
            start = end + 1
            let line = extracting(start..<(lineEnd(from: start) ?? count))
            if line.isEmpty || line.equals("\r") { return nil }
            guard line.count > 7, line.extracting(0..<7).equalsIgnoringCase("origin:") else { continue }
            let value = line.extracting(7..<(line[line.count - 1] == .carriageReturn ? line.count - 1 : line.count))
            return String(lossy: value.extracting(value.trimmedRange()))
        }
        return nil
    }

    private func lineEnd(from start: Int) -> Int? {
        var index = start
        while index < count {
            if self[index] == UInt8(ascii: "\n") { return index }
            index += 1
        }
        return nil
    }
}
