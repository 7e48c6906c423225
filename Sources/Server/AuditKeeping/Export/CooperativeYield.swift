import Reactor

/// Splits long work on the loop. Making or checking one line of an export takes about 20 µs; one turn of the loop should
/// take no more than half a millisecond, however many tasks do such work.
struct CooperativeYield {
    /// The number of lines in one turn of the loop.
    static let lines = 24

    let poller: Poller

    /// Ends the loop's turn when a slice is done.
    /// - Parameter index: the number of lines done before.
    func yieldIfDue(after index: Int) async {
        if index > 0, index % Self.lines == 0 { await poller.yieldSlice() }
    }
}
