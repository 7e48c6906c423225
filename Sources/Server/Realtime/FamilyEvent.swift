import Audit
import Domain

/// The kind of event that a frame notifies a client of. The raw values are part of the contract.
enum EventKind: String, Sendable, CaseIterable {
    case nagCreated = "nag_created"
    /// A nag was edited, snoozed, promised, dismissed, shown again or given a note, or a draft was executed.
    case nagUpdated = "nag_updated"
    /// A nag was completed, missed, escalated or cancelled, also when a change or the end of a connection cancelled it.
    case nagStatusChanged = "nag_status_changed"
    case nagWithdrawn = "nag_withdrawn"
    case excuseSubmitted = "excuse_submitted"
    case memberAdded = "member_added"
    case memberRemoved = "member_removed"
    /// Points were recorded for the recipient of a completed or missed nag.
    case gamificationEvent = "gamification_event"
    case connectionInvited = "connection_invited"
    case connectionAccepted = "connection_accepted"

    /// Creates the kind of event that an entry of the audit log causes; nil for an entry that is not sent to clients.
    init?(_ kind: AuditKind) {
        switch kind {
        case .nagCreated: self = .nagCreated
        case .nagUpdated, .nagSnoozed, .nagCommitted, .nagDismissed, .nagUndismissed, .nagNoteAdded,
            .draftExecuted:
            self = .nagUpdated
        case .nagCompleted, .nagMissed, .nagEscalated, .nagsCancelled: self = .nagStatusChanged
        case .nagWithdrawn: self = .nagWithdrawn
        case .excuseSubmitted: self = .excuseSubmitted
        case .memberAdded, .memberCreated, .memberJoined: self = .memberAdded
        case .memberLeft, .memberRemoved, .accountDeleted: self = .memberRemoved
        case .connectionInvited: self = .connectionInvited
        case .connectionAccepted: self = .connectionAccepted
        // For the people whose nags it cancelled.
        case .connectionRevoked, .connectionChanged: self = .nagStatusChanged
        default: return nil
        }
    }
}

/// An event in a family or a connection, and the people who may receive it.
struct FamilyEvent: Sendable, Hashable {
    /// The people who are notified.
    enum Audience: Sendable, Hashable {
        /// All members of the family.
        case everybody
        /// The guardians and these two people: everybody who may read a nag.
        case guardians(and: UserID?, UserID?)
        /// These people, in whichever family they are, for an event of a connection.
        case people(Set<UserID>)

        func includes(_ user: UserID, _ role: FamilyRole) -> Bool {
            switch self {
            case .everybody: true
            case .guardians(let one, let other): role == .guardian || user == one || user == other
            case .people(let people): people.contains(user)
            }
        }
    }

    let kind: EventKind
    /// The sequence number of the event's entry in the chain of the family or connection.
    let seq: Int64
    let at: Timestamp
    /// The person who acted; nil for the server's own acts.
    let actor: UserID?
    let audience: Audience
    /// The nag; nil for an event about several nags or about none.
    var nag: NagID?
    /// The member who came or left, or whose points changed; nil for other events.
    var member: UserID?
}
