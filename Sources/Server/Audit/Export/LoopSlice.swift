/// Splits long work on the loop. Making or checking one line of an export takes about 20 µs; one turn of the loop
/// should take no more than half a millisecond.
enum LoopSlice {
    /// Lines in one turn.
    static let lines = 24

    /// Ends the loop's turn when a slice is done.
    /// - Parameter index: the number of lines done before.
    static func endOfLine(_ index: Int) async {
        if index > 0, index % lines == 0 { await Task.yield() }
    }
}
