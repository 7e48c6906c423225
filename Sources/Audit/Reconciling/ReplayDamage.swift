import Domain

/// The part of a family's log that could not be replayed. The log does not explain the state that depends on that part.
public struct ReplayDamage: Sendable {
    /// The number of the first entry that was not applied, because the chain or the tree is invalid there; nil where
    /// all were applied.
    public private(set) var firstUnappliedNumber: Int64?
    /// People about whom an entry cannot be read although they were not erased.
    public private(set) var peopleWithUnreadableEntries: Set<Pseudonym> = []

    /// Records that the replay ended before an entry. Of several, the first one counts.
    public mutating func recordStop(at number: Int64) {
        firstUnappliedNumber = min(firstUnappliedNumber ?? number, number)
    }

    public mutating func recordUnreadableEntry(about person: Pseudonym) { peopleWithUnreadableEntries.insert(person) }
}
