import SeededNumbers

extension SeededNumbers {
    /// Returns a number from 0 to `bound` - 1; 0 if `bound` is not positive. The standard library does not guarantee
    /// the sequence of its own methods.
    mutating func number(below bound: Int) -> Int { bound > 0 ? Int(next() >> 11) % bound : 0 }

    /// Returns whether an event happens whose probability is `percent`.
    mutating func happens(percent: Int) -> Bool { number(below: 100) < percent }

    mutating func pick(_ texts: [String]) -> String { texts.isEmpty ? "" : texts[number(below: texts.count)] }
}
