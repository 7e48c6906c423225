import Contract
import Domain
import JSON
import NagzAI
import Postgres
import Reactor
import SeededNumbers
import Server
import TimeZones

/// Runs the demo: it has the server's features, and a schedule of acts.
///
/// Every act goes through a feature like a request, at its time in the demo. A stage is used on one event loop.
final class DemoStage {
    typealias ScheduledAct = (Timestamp) async throws -> Void

    let services: Services
    let sessions: Sessions
    let families: Families
    let consents: Consents
    let preferences: MemberPreferences
    let nags: Nags
    let mediator: Mediator
    let safety: Safety
    let reports: Reports
    let auditLog: AuditEvents
    let people: DemoHousehold
    let zone: any ZoneRules
    /// The present time, at which the demo ends.
    let end: Timestamp

    var family = FamilyID(high: 0, low: 0)
    var childCode = ""
    var inviteCode = ""
    var dice = SeededNumbers(seed: 0x6e61_677a)
    var dismissalCount = 0

    private let clock: DemoClock
    private var agenda: [(at: Timestamp, number: Int, act: ScheduledAct)] = []
    private var scheduledCount = 0

    init(_ services: Services, _ clock: DemoClock, until end: Timestamp) {
        self.services = services
        self.clock = clock
        self.end = end
        let gamification = Gamification(services)
        sessions = Sessions(services)
        families = Families(services)
        consents = Consents(services)
        preferences = MemberPreferences(services)
        nags = Nags(services, gamification)
        mediator = Mediator(services)
        safety = Safety(services)
        reports = Reports(services)
        auditLog = AuditEvents(services)
        people = DemoHousehold(services.random)
        zone = services.zones.zoneOrUTC("America/New_York")
    }

    // MARK: Time

    /// Returns the moment of a wall-clock time in the family's zone, on a day counted from today; negative for the
    /// past.
    func moment(_ day: Int, _ hour: Int, _ minute: Int = 0) -> Timestamp {
        let time = TimeOfDay(hour: hour, minute: minute) ?? .midnight
        return zone.moment(date(day), time)
    }

    func date(_ day: Int) -> CivilDate {
        CivilDate(daysSinceEpoch: zone.local(end).date.daysSinceEpoch + Int64(day))
    }

    /// Returns the context of an act that no request asks for.
    func context(_ now: Timestamp) -> CallContext {
        CallContext(systemActAt: now, services.random)
    }

    /// Schedules an act. An act after the present time is omitted, so a nag that it would have completed stays open.
    func schedule(at moment: Timestamp, _ act: @escaping ScheduledAct) {
        let moment = moment.flooredToMillisecond
        guard moment <= end else { return }
        scheduledCount += 1
        // The agenda is ordered from last to first; acts of one moment run in the order in which they were scheduled.
        let entry = (at: moment, number: scheduledCount, act: act)
        var (low, high) = (0, agenda.count)
        while low < high {
            let middle = (low + high) / 2
            if agenda[middle].at > moment { low = middle + 1 } else { high = middle }
        }
        agenda.insert(entry, at: low)
    }

    /// Runs the scheduled acts in order, including those that they schedule. Between two acts, nags escalate as time
    /// passes.
    func runScheduledActs(_ progress: (Timestamp) -> Void) async throws {
        while let moment = agenda.last?.at {
            try await escalate(until: moment)
            guard let next = agenda.popLast() else { return }
            clock.moment = next.at
            progress(next.at)
            try await next.act(next.at)
        }
    }

    /// Runs the steps of the scheduler up to a moment, each at its time.
    private func escalate(until moment: Timestamp) async throws {
        try await nags.replaySteps(in: family, until: moment) { due in
            clock.moment = max(clock.moment, due)
            return clock.moment
        }
    }

    /// Runs an act that the family's rules must refuse. Throws if it is not refused.
    func requireRefusal(_ act: () async throws -> Void) async throws {
        do { try await act() } catch is APIError { return }
        throw SeedFault.notRefused
    }

    // MARK: Preferences

    /// Changes preferences of a person, as that person or as the guardian `other`.
    func updatePreferences(
        of person: DemoPerson, by other: DemoPerson? = nil, at now: Timestamp, _ changes: JSONObject
    ) async throws {
        let caller = try await caller(other ?? person, at: now)
        _ = try await preferences.updateForMember(
            caller,
            Call(
                MemberPreferencesPath(userID: person.id, familyID: family), PreferenceUpdate(preferences: changes)))
    }
}

/// A clock that the demo sets.
final class DemoClock: WallClock {
    private let time: Locked<Timestamp>

    init(_ start: Timestamp) { time = Locked(start) }

    var moment: Timestamp {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    func now() -> Timestamp { moment }
}
