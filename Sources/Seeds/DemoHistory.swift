import Contract
import Domain
import JSON
import NagzAI
import SeededNumbers
import Server

/// A routine of the demo family: nags that its people send on ordinary days.
private struct Routine {
    let creator: DemoPerson
    let recipient: DemoPerson
    let texts: [String]
    let category: NagCategory
    let weekdays: Set<Weekday>
    /// The hour of the due time. The minute is random.
    let dueHour: Int
    /// The percentages of nags that are completed on time and late. The others are missed, and a few of all are
    /// withdrawn.
    let onTimePercent: Int
    let latePercent: Int
    var doneDefinition = DoneDefinition.acknowledgeOnly
    var excuses: [ExcuseCategory] = []
}

/// The first eighty of the demo's ninety days: routines with random outcomes, and a few single events. The series
/// and the questions of Sundays continue after these days.
enum DemoHistory {
    /// The last day with routines, counted from today. `DemoRecentDays` plans the days after it.
    static let lastRoutineDay = -11

    static func plan(on stage: DemoStage) {
        planFamilyAndPreferences(stage)
        planSeries(stage)
        for day in -88...lastRoutineDay {
            for routine in routines(stage.people) where routine.weekdays.contains(stage.date(day).weekday) {
                // On the birthday, Walter's nags are only those of its preparation.
                if day == birthdayDay, routine.creator === stage.people.walter { continue }
                plan(routine, on: day, stage)
            }
        }
        for day in -88 ... -1 where stage.date(day).weekday == .sunday { planSunday(day, stage) }
        DemoIncidents.plan(on: stage, birthdayDay: birthdayDay)
    }

    /// The day of the birthday, counted from today.
    private static let birthdayDay = -40

    private static func routines(_ people: DemoHousehold) -> [Routine] {
        let (nora, daniel, walter, maya, leo) = (people.nora, people.daniel, people.walter, people.maya, people.leo)
        let homeworkDays: Set<Weekday> = [.monday, .tuesday, .wednesday, .thursday]
        return [
            Routine(
                creator: nora, recipient: leo,
                texts: ["Read for twenty minutes", "Finish the maths worksheet", "Practise spelling"],
                category: .homework, weekdays: homeworkDays, dueHour: 18, onTimePercent: 55, latePercent: 20,
                doneDefinition: .binaryCheck,
                excuses: [.forgot, .unclearInstructions, .lackingResources, .other]),
            Routine(
                creator: daniel, recipient: leo, texts: ["Feed the cat", "Put the Lego away", "Clear the table"],
                category: .chores, weekdays: [.tuesday, .thursday, .saturday], dueHour: 17, onTimePercent: 60,
                latePercent: 15,
                excuses: [.forgot, .refused, .lackingResources]),
            // Leo misses most nags of Sunday evenings, so that he has a pattern.
            Routine(
                creator: nora, recipient: leo, texts: ["Pack your school bag for Monday"], category: .homework,
                weekdays: [.sunday],
                dueHour: 17, onTimePercent: 8, latePercent: 12, excuses: [.forgot]),
            Routine(
                creator: daniel, recipient: maya,
                texts: ["History essay, one more paragraph", "French vocabulary", "Biology, chapter 7"],
                category: .homework, weekdays: homeworkDays, dueHour: 19, onTimePercent: 72, latePercent: 22,
                doneDefinition: .binaryWithNote,
                excuses: [.unclearInstructions, .lackingResources]),
            Routine(
                creator: nora, recipient: maya, texts: ["Empty the dishwasher", "Walk the dog", "Vacuum upstairs"],
                category: .chores, weekdays: [.tuesday, .friday, .sunday], dueHour: 18, onTimePercent: 62,
                latePercent: 22,
                excuses: [.forgot, .timeConflict, .refused]),
            Routine(
                creator: nora, recipient: daniel,
                texts: ["Pay the electricity bill", "Book the car service", "Answer the landlord"],
                category: .other, weekdays: [.monday, .thursday], dueHour: 20, onTimePercent: 55, latePercent: 25,
                excuses: [.timeConflict, .forgot]),
            Routine(
                creator: daniel, recipient: nora,
                texts: ["Renew the library cards", "Call the plumber", "Order new shoes for Leo"],
                category: .chores, weekdays: [.wednesday, .saturday], dueHour: 16, onTimePercent: 80, latePercent: 12,
                excuses: [.forgot]
            ),
            Routine(
                creator: walter, recipient: nora, texts: ["Call me about Sunday", "Bring the garden shears"],
                category: .other,
                weekdays: [.friday], dueHour: 15, onTimePercent: 75, latePercent: 20),
            Routine(
                creator: daniel, recipient: walter, texts: ["Check-up at Dr. Levine", "Physiotherapy at eleven"],
                category: .appointments, weekdays: [.wednesday], dueHour: 11, onTimePercent: 100, latePercent: 0),
            Routine(
                creator: nora, recipient: walter, texts: ["Water the tomatoes", "Turn the compost"], category: .chores,
                weekdays: [.saturday], dueHour: 10, onTimePercent: 95, latePercent: 5),
        ]
    }

    private static func plan(_ routine: Routine, on day: Int, _ stage: DemoStage) {
        let randomPercent = stage.dice.number(below: 100)
        var outcome: DemoNag.Outcome =
            randomPercent < routine.onTimePercent
            ? .onTime : randomPercent < routine.onTimePercent + routine.latePercent ? .late : .missed
        if stage.dice.happens(percent: 3) { outcome = .withdrawn }
        var excuse: ExcuseCategory?
        if outcome == .late || outcome == .missed, !routine.excuses.isEmpty, stage.dice.happens(percent: 45) {
            excuse = routine.excuses[stage.dice.number(below: routine.excuses.count)]
        }
        let due = stage.moment(day, routine.dueHour, 5 * stage.dice.number(below: 6))
        stage.plan(
            DemoNag(
                creator: routine.creator, recipient: routine.recipient, text: stage.dice.pick(routine.texts),
                category: routine.category,
                createdAt: due - .minutes(Int64(190 + stage.dice.number(below: 50))), dueAt: due, outcome: outcome,
                excuse: excuse,
                doneDefinition: routine.doneDefinition))
    }

    /// Plans the series: Walter's pills every morning, the front door every night, and the bins every week.
    private static func planSeries(_ stage: DemoStage) {
        let people = stage.people
        let firstThursday = (-88 ... -80).first { stage.date($0).weekday == .thursday } ?? -88
        stage.plan(
            DemoNag(
                creator: people.nora, recipient: people.walter, text: "Blood pressure pill, with breakfast",
                category: .meds,
                createdAt: stage.moment(-89, 8), dueAt: stage.moment(-88, 9), outcome: .onTime,
                doneDefinition: .binaryCheck,
                recurrence: .daily))
        stage.plan(
            DemoNag(
                creator: people.nora, recipient: people.daniel, text: "Lock the front door, lights out",
                category: .chores,
                createdAt: stage.moment(-89, 8), dueAt: stage.moment(-88, 22), outcome: .onTime, recurrence: .daily))
        stage.plan(
            DemoNag(
                creator: people.nora, recipient: people.daniel, text: "Bins out before the truck comes",
                category: .chores,
                createdAt: stage.moment(firstThursday - 1, 9), dueAt: stage.moment(firstThursday, 7, 30),
                outcome: .onTime,
                recurrence: .weekly))
    }

    /// Plans the creation of the family, and everybody's preferences.
    private static func planFamilyAndPreferences(_ stage: DemoStage) {
        let people = stage.people
        stage.schedule(at: stage.moment(-90, 18)) { try await stage.createFamilyAndMembers(at: $0) }
        stage.schedule(at: stage.moment(-89, 7)) { now in
            try await stage.updatePreferences(
                of: people.nora, at: now,
                [
                    "gamification_enabled": true, "quiet_hours_enabled": true, "quiet_hours_start": "22:00",
                    "quiet_hours_end": "07:00", "tone": "empathetic", "theme": "auto",
                ])
            try await stage.updatePreferences(
                of: people.daniel, at: now,
                [
                    "gamification_enabled": true, "quiet_hours_enabled": true, "quiet_hours_start": "22:30",
                    "quiet_hours_end": "06:30", "tone": "firm", "use_commit_time_for_escalation": true,
                    "delivery_channel": "sms",
                ])
            try await stage.updatePreferences(
                of: people.walter, at: now,
                ["gamification_enabled": true, "timezone": "America/Chicago", "notification_frequency": "daily_digest"])
            try await stage.updatePreferences(
                of: people.maya, at: now, ["gamification_enabled": true, "tone": "playful", "theme": "dark"])
            try await stage.updatePreferences(
                of: people.leo, by: people.nora, at: now, ["gamification_enabled": true, "tone": "friendly"])
            try await stage.grant(.smsOptIn, by: people.daniel, at: now)
        }
        stage.schedule(at: stage.moment(-89, 7, 30)) { now in
            let caller = try await stage.caller(people.nora, at: now)
            let bedtime = ChildSettingsUpdate(
                quietHoursStart: TimeOfDay(hour: 21, minute: 30).map { .value($0) } ?? .absent,
                quietHoursEnd: TimeOfDay(hour: 6, minute: 30).map { .value($0) } ?? .absent)
            for (child, update) in [(people.maya, bedtime), (people.leo, ChildSettingsUpdate(maxSnoozesPerDay: 2))] {
                _ = try await stage.families.updateChildSettings(
                    caller, Call(MemberPath(familyID: stage.family, userID: child.id), update))
            }
        }
    }

    /// Plans a Sunday: the digest of the week, and sometimes a question about a member's patterns.
    private static func planSunday(_ day: Int, _ stage: DemoStage) {
        let people = stage.people
        stage.schedule(at: stage.moment(day, 19, 45)) { now in
            _ = try await stage.mediator.answer(
                AIOperations.digest, FamilyQuestion(familyID: stage.family), for: stage.caller(people.nora, at: now))
        }
        for person in [people.leo, people.maya, people.daniel] where stage.dice.happens(percent: 35) {
            stage.schedule(at: stage.moment(day, 20, 10)) { now in
                _ = try await stage.mediator.answer(
                    AIOperations.patterns, MemberQuestion(userID: person.id, familyID: stage.family),
                    for: stage.caller(people.nora, at: now))
            }
        }
    }
}
