extension Array {
    /// Returns the elements in order, in arrays of `size` elements; the last one may be shorter.
    func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
