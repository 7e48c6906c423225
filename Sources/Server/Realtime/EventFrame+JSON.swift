import Contract
import Domain
import JSON

extension EventFrame {
    /// Returns the frame as `{event, family_id, actor_id, data, ts}`. `data` is always an object, because the app of an
    /// existing client crashes at null.
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
