import Reactor

/// Splits long work on a loop. Creating or checking one line of an export takes about 20 µs; one turn of the loop
/// should take at most half a millisecond, however many tasks do such work.
struct CooperativeYield {
    /// The number of lines in one turn of the loop.
    static let linesPerTurn = 24

    let poller: Poller

    /// Ends the loop's turn after every `linesPerTurn` lines.
    /// - Parameter index: the number of lines done before.
    func yieldIfDue(after index: Int) async {
        if index > 0, index % Self.linesPerTurn == 0 { await poller.yieldSlice() }
    }
}
