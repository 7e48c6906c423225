import Contract
import Domain
import JSON

/// One text frame: an event, or several of one kind.
struct EventFrame: Sendable, Hashable {
    let kind: EventKind
    /// The person who acted; nil for the server's own acts, and when several people acted.
    private(set) var actor: UserID?
    /// The nag; nil when the frame is about several nags or about none.
    private(set) var nag: NagID?
    /// The member who came or left, or whose points changed; nil when there are several or none.
    private(set) var member: UserID?
    /// The time of the last event in the frame.
    private(set) var at: Timestamp
    /// The number of events in the frame.
    private(set) var count = 1

    init(_ event: FamilyEvent) {
        (kind, actor, nag, member, at) = (event.kind, event.actor, event.nag, event.member, event.at)
    }

    /// Adds a later event of the same kind.
    mutating func merge(_ event: FamilyEvent) {
        if actor != event.actor { actor = nil }
        if nag != event.nag { nag = nil }
        if member != event.member { member = nil }
        at = event.at
        count += 1
    }
}

extension EventFrame {
    /// Returns the frame as `{event, family_id, actor_id, data, ts}`. `data` is always an object, because an existing
    /// app crashes at null.
    /// - Parameter family: the family of the socket, also for an event of a connection.
    func json(of family: FamilyID) -> [UInt8] {
        JSONWriter.document { json in
            json.object { json in
                json.field("event", kind.rawValue)
                json.field("family_id", family)
                json.field("actor_id", actor)
                json.key("data")
                json.object { json in
                    json.fieldIfPresent("nag_id", nag)
                    json.fieldIfPresent("user_id", member)
                }
                json.field("ts", at)
            }
        }
    }

    /// The answer to a client's `ping`.
    static let pong = [UInt8](#"{"event":"pong"}"#.utf8)
}
