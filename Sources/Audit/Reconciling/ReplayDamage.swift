import Domain

/// The part of a family's log that could not be replayed. The log explains nothing of the state that depends on it.
public struct ReplayDamage: Sendable {
    /// The first entry that was not applied, because the chain or the tree does not hold there; nil where all were.
    public private(set) var stop: Int64?
    /// People about whom an entry cannot be read although they were not erased.
    public private(set) var people: Set<Pseudonym> = []

    /// Ends the replay before an entry.
    public mutating func stop(at number: Int64) { stop = min(stop ?? number, number) }

    public mutating func lose(entryAbout person: Pseudonym) { people.insert(person) }
}
