import Contract
import Domain
import Server

/// The last ten days. Their nags and outcomes are not random, because today's mediation, points and reports depend on
/// them.
///
/// The outcomes, with the tone that the mediator selects today. Leo: several misses (firm). Maya: homework done, no
/// streak (neutral). Nora: one miss. Daniel: repeated time conflicts. Walter: everything done (supportive).
enum DemoRecentDays {
    static func plan(on stage: DemoStage) {
        let people = stage.people
        let (nora, daniel, walter, maya, leo) = (people.nora, people.daniel, people.walter, people.maya, people.leo)

        func plan(
            _ from: DemoPerson, _ to: DemoPerson, _ text: String, _ category: NagCategory, _ day: Int, _ hour: Int,
            _ outcome: DemoNag.Outcome, excuse: ExcuseCategory? = nil, doneDefinition: DoneDefinition = .acknowledgeOnly
        ) {
            let due = stage.moment(day, hour)
            stage.plan(
                DemoNag(
                    creator: from, recipient: to, text: text, category: category, createdAt: due - .minutes(200),
                    dueAt: due,
                    outcome: outcome,
                    excuse: excuse, doneDefinition: doneDefinition))
        }

        plan(nora, leo, "Read for twenty minutes", .homework, -10, 18, .onTime, doneDefinition: .binaryCheck)
        plan(daniel, leo, "Feed the cat", .chores, -9, 17, .onTime)
        plan(nora, leo, "Practise spelling", .homework, -8, 18, .onTime, doneDefinition: .binaryCheck)
        plan(daniel, leo, "Clear the table", .chores, -6, 18, .onTime)
        plan(nora, leo, "Finish the maths worksheet", .homework, -5, 18, .missed, excuse: .unclearInstructions)
        plan(daniel, leo, "Put the Lego away", .chores, -4, 18, .missed, excuse: .refused)
        plan(nora, leo, "Pack your school bag", .homework, -3, 18, .missed, excuse: .forgot)
        plan(daniel, leo, "Feed the cat", .chores, -2, 18, .missed, excuse: .lackingResources)

        plan(nora, maya, "Vacuum upstairs", .chores, -10, 18, .missed, excuse: .refused)
        plan(daniel, maya, "French vocabulary", .homework, -8, 19, .late, doneDefinition: .binaryWithNote)
        plan(
            daniel, maya, "Biology, chapter 8", .homework, -7, 19, .late, excuse: .other,
            doneDefinition: .binaryWithNote)
        plan(nora, maya, "Walk the dog", .chores, -6, 17, .onTime)
        plan(daniel, maya, "History essay, the ending", .homework, -4, 19, .late, doneDefinition: .binaryWithNote)
        plan(daniel, maya, "Maths, exercise 12", .homework, -3, 19, .onTime, doneDefinition: .binaryWithNote)
        plan(daniel, maya, "French vocabulary", .homework, -1, 17, .late, doneDefinition: .binaryWithNote)

        plan(nora, daniel, "Book the car service", .other, -7, 20, .onTime)
        plan(nora, daniel, "Pick up the parcel", .other, -4, 12, .late, excuse: .timeConflict)
        plan(nora, daniel, "Answer the landlord", .other, -3, 12, .missed, excuse: .timeConflict)
        plan(nora, daniel, "Buy printer paper", .other, -1, 12, .late, excuse: .timeConflict)

        plan(daniel, nora, "Call the plumber", .chores, -9, 16, .onTime)
        plan(walter, nora, "Bring the garden shears", .other, -7, 15, .onTime)
        plan(daniel, nora, "Renew the library cards", .chores, -3, 17, .missed, excuse: .forgot)
        for (number, text) in ["Sign the school form", "Water the plants", "Call Grandpa", "Reserve a table"]
            .enumerated()
        {
            plan(number == 2 ? walter : daniel, nora, text, .chores, -1, 13 + 2 * number, .onTime)
        }

        plan(daniel, walter, "Check-up at Dr. Levine", .appointments, -6, 11, .onTime)
        plan(nora, walter, "Water the tomatoes", .chores, -2, 10, .onTime)
        planToday(stage)
    }

    /// Plans the nags that are open now: an overdue one for Leo, and an upcoming one for everybody. Daniel commits
    /// himself to a time for his.
    private static func planToday(_ stage: DemoStage) {
        let people = stage.people
        let (nora, daniel, walter, maya, leo) = (people.nora, people.daniel, people.walter, people.maya, people.leo)
        func planOpenNag(
            _ from: DemoPerson, _ to: DemoPerson, _ text: String, _ category: NagCategory, dueIn: Timestamp.Span,
            doneDefinition: DoneDefinition = .acknowledgeOnly, recurrence: Recurrence? = nil
        ) {
            stage.plan(
                DemoNag(
                    creator: from, recipient: to, text: text, category: category, createdAt: stage.end - .hours(6),
                    dueAt: stage.end + dueIn,
                    outcome: .open, doneDefinition: doneDefinition, recurrence: recurrence))
        }
        planOpenNag(nora, leo, "Tidy your room", .chores, dueIn: .minutes(-130))
        planOpenNag(daniel, leo, "Clarinet, fifteen minutes", .homework, dueIn: .hours(26))
        planOpenNag(daniel, maya, "Physics lab report", .homework, dueIn: .hours(30), doneDefinition: .binaryWithNote)
        planOpenNag(nora, daniel, "Send the tax papers", .other, dueIn: .hours(40))
        planOpenNag(walter, nora, "Choose a day for the lake", .other, dueIn: .hours(50))
        planOpenNag(nora, walter, "Flu shot at the pharmacy", .appointments, dueIn: .hours(28))
        stage.schedule(at: stage.end - .hours(5)) { now in
            let caller = try await stage.caller(daniel, at: now)
            let openNags = try await stage.nags.list(
                caller, Call(NagListQuery(familyID: stage.family, status: .open), NoBody()))
            guard let nag = openNags.items.first(where: { $0.recipientID == daniel.id && $0.category == .other }) else {
                return
            }
            let commitment = NagUpdate(committedAt: .value(stage.end + .hours(20)))
            _ = try await stage.nags.update(caller, Call(NagPath(nagID: nag.id), commitment))
        }
    }
}
