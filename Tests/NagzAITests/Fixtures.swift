import Domain
import NagzAI

/// New York with the clock changes of 2026, and none before or after.
struct NewYork2026: ZoneRules {
    /// 02:00 becomes 03:00 on 8 March.
    static let spring = at("2026-03-08T07:00:00Z")
    /// 02:00 becomes 01:00 on 1 November.
    static let autumn = at("2026-11-01T06:00:00Z")

    func secondsFromUTC(at moment: Timestamp) -> Int {
        (Self.spring..<Self.autumn).contains(moment) ? -4 * 3_600 : -5 * 3_600
    }
}

/// A moment from text; the epoch if a test has a typing error, which then fails.
func at(_ text: String) -> Timestamp { Timestamp(rfc3339: text) ?? .epoch }

func clock(_ text: String) -> TimeOfDay { TimeOfDay(text) ?? .midnight }

/// Noon in New York on a Tuesday in May.
let noon = at("2026-05-05T16:00:00Z")
let nagID = NagID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
let familyID = FamilyID(high: 0, low: 9)

func user(_ number: UInt64) -> UserID { UserID(high: 0, low: number) }

func heuristics() throws -> Heuristics { Heuristics(phrasebook: try Phrasebook.english()) }

func nag(
    _ status: NagStatus = .open, category: NagCategory = .chores, dueAt: Timestamp = noon + .hours(5),
    id: NagID = nagID
) -> NagSnapshot {
    NagSnapshot(
        id: id, familyID: familyID, recipientID: user(1), category: category, status: status, dueAt: dueAt,
        createdAt: noon - .days(1))
}

extension Snapshot {
    /// In New York, at noon unless said otherwise.
    init(_ facts: Facts, at now: Timestamp = noon) { self.init(facts, now: now, zone: NewYork2026()) }
}
