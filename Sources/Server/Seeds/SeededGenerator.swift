/// Numbers that look random and are the same in every run: SplitMix64 (G. Steele, D. Lea, C. Flood, 2014).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// Below `bound`. Spelled out, because the standard library promises no sequence for its own.
    mutating func number(below bound: Int) -> Int { bound > 0 ? Int(next() >> 11) % bound : 0 }

    /// Whether something happens that happens so many times in a hundred.
    mutating func happens(_ percent: Int) -> Bool { number(below: 100) < percent }

    mutating func pick(_ texts: [String]) -> String { texts.isEmpty ? "" : texts[number(below: texts.count)] }
}
