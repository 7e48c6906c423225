/// The part of long work that one turn of the loop does: making a line of an export or checking it takes about 20 µs, and
/// no turn is to take much longer than half a millisecond.
enum LoopSlice {
    /// Lines a turn.
    static let lines = 24

    /// Lets the loop turn when a slice is done.
    /// - Parameter index: how many lines were done before.
    static func endOfLine(_ index: Int) async {
        if index > 0, index % lines == 0 { await Task.yield() }
    }
}
