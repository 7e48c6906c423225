import Domain

/// The part of a family's log that could not be replayed. The log does not explain the state that depends on that part.
public struct ReplayDamage: Sendable {
    /// The number of the first entry that was not applied, because the chain or the tree is invalid there; nil where
    /// all were applied.
    public private(set) var firstUnappliedNumber: Int64?
    /// People about whom an entry cannot be read although they were not erased.
    public private(set) var people: Set<Pseudonym> = []

    /// Ends the replay before an entry.
    public mutating func stop(at number: Int64) {
        firstUnappliedNumber = min(firstUnappliedNumber ?? number, number)
    }

    public mutating func recordUnreadableEntry(about person: Pseudonym) { people.insert(person) }
}
