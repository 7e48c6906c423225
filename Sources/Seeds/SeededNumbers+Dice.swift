import SeededNumbers

extension SeededNumbers {
    /// Below `bound`. Spelled out, because the standard library promises no sequence for its own.
    mutating func number(below bound: Int) -> Int { bound > 0 ? Int(next() >> 11) % bound : 0 }

    /// Whether something happens that happens so many times in a hundred.
    mutating func happens(_ percent: Int) -> Bool { number(below: 100) < percent }

    mutating func pick(_ texts: [String]) -> String { texts.isEmpty ? "" : texts[number(below: texts.count)] }
}
