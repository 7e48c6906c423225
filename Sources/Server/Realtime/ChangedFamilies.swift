import Domain
import Reactor

/// The families for which this instance has committed acts since the hub last looked.
///
/// An act costs one short lock; only the first of many wakes the hub.
final class ChangedFamilies: Sendable {
    private let families = Locked<Set<FamilyID>>([])
    private let hubMailbox: Mailbox<HubMessage>

    init(_ hubMailbox: Mailbox<HubMessage>) { self.hubMailbox = hubMailbox }

    /// Adds a family after a commit, and wakes the hub if it is the first.
    func insert(_ family: FamilyID) {
        let isFirst = families.withLock { families in
            families.insert(family)
            return families.count == 1
        }
        if isFirst { hubMailbox.send(.familiesChanged) }
    }

    func take() -> Set<FamilyID> {
        families.withLock { families in
            defer { families = [] }
            return families
        }
    }
}
