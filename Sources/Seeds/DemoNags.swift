import Contract
import Domain
import NagzAI
import SeededNumbers
import Server

/// A nag of the demo, and its outcome.
struct DemoNag {
    enum Outcome {
        case onTime, late, missed, withdrawn
        /// The nag stays open.
        case open
    }

    let from: DemoPerson
    let to: DemoPerson
    let text: String
    let category: NagCategory
    let asked: Timestamp
    let due: Timestamp
    let outcome: Outcome
    /// The excuse, which is submitted half an hour before the nag is due; nil for none.
    var excuse: ExcuseCategory?
    var done = DoneDefinition.acknowledgeOnly
    var recurrence: Recurrence?
}

extension DemoStage {
    /// The time that the scheduler waits after the due time before a nag is missed.
    private static let finalWindow = EscalationPlan.standard.missed

    /// Schedules a nag and its outcome.
    func plan(_ nag: DemoNag) {
        at(nag.asked) { [self] now in
            let id = try await ask(nag, at: now)
            try await consult(nag, id, at: now)
            scheduleOutcome(nag, id)
        }
    }

    /// Creates the nag now.
    @discardableResult
    func ask(_ nag: DemoNag, at now: Timestamp) async throws -> NagID {
        let order = NagCreate(
            familyID: family, recipientID: nag.to.id, dueAt: nag.due, category: nag.category, doneDefinition: nag.done,
            description: nag.text, recurrence: nag.recurrence)
        return try await nags.create(caller(nag.from, at: now), Call(NoParameters(), order)).id
    }

    /// Schedules questions to the mediator about some of the nags.
    private func consult(_ nag: DemoNag, _ id: NagID, at now: Timestamp) async throws {
        if dice.happens(18) {
            at(now + .minutes(3)) { [self] now in
                _ = try await mediator.answer(
                    AIOperations.selectTone, NagQuestion(nagID: id), for: caller(nag.from, at: now))
            }
        }
        if dice.happens(12) {
            at(now + .minutes(4)) { [self] now in
                _ = try await mediator.answer(
                    AIOperations.predictCompletion, NagQuestion(nagID: id), for: caller(nag.from, at: now))
            }
        }
        if dice.happens(12) {
            at(now + .minutes(20)) { [self] now in
                _ = try await mediator.answer(
                    AIOperations.coaching, NagQuestion(nagID: id), for: caller(nag.to, at: now))
            }
        }
    }

    /// Schedules the excuse and the outcome of a nag.
    private func scheduleOutcome(_ nag: DemoNag, _ id: NagID) {
        if let category = nag.excuse { excuse(category, nag, id, at: nag.due - .minutes(30)) }
        switch nag.outcome {
        case .open: break
        case .withdrawn:
            at(nag.asked + .minutes(25)) { [self] now in
                _ = try await nags.withdraw(caller(nag.from, at: now), Call(NagPath(nagID: id), NoBody()))
            }
        case .onTime:
            if nag.to.role == .guardian, dice.happens(25) { promise(nag, id, at: nag.asked + .minutes(10)) }
            if nag.to.role == .child, dice.happens(10) { snooze(nag, id) }
            complete(nag, id, at: nag.due - .minutes(Int64(12 + dice.number(below: 30))))
        case .late:
            if dice.happens(40) { pushBack(nag, id, at: nag.due + .minutes(70)) }
            complete(nag, id, at: nag.due + .minutes(Int64(95 + dice.number(below: 80))))
        case .missed:
            if dice.happens(50) { pushBack(nag, id, at: nag.due + .minutes(65)) }
            let isDismissed = dice.happens(30)
            // The series creates its next instance when the nag is overdue.
            at(nag.due + .minutes(1)) { [self] now in try await scheduleNextInstance(nag, after: id, at: now) }
            at(nag.due + Self.finalWindow) { [self] now in
                _ = try await nags.miss(id, in: family, at: now)
                if isDismissed { dismiss(nag, id, at: now + .hours(2)) }
            }
        }
    }

    private func complete(_ nag: DemoNag, _ id: NagID, at moment: Timestamp) {
        let note = nag.done == .binaryWithNote || dice.happens(10) ? dice.pick(DemoWords.notes) : nil
        at(moment) { [self] now in
            _ = try await nags.updateStatus(
                caller(nag.to, at: now),
                Call(NagPath(nagID: id), NagStatusUpdate(status: .completed, note: note)))
            try await scheduleNextInstance(nag, after: id, at: now)
        }
    }

    /// Schedules the outcome of the next instance of a series: completed on time, except on one day without pills.
    private func scheduleNextInstance(_ nag: DemoNag, after id: NagID, at now: Timestamp) async throws {
        guard nag.recurrence != nil else { return }
        let open = try await nags.list(
            caller(nag.to, at: now), Call(NagListQuery(familyID: family, status: .open), NoBody()))
        guard let next = open.items.first(where: { $0.parentNagID == id }) else { return }
        let isMissed = nag.category == .meds && next.dueAt > moment(-62, 0) && next.dueAt < moment(-61, 0)
        let instance = DemoNag(
            from: nag.from, to: nag.to, text: nag.text, category: nag.category, asked: now, due: next.dueAt,
            outcome: isMissed ? .missed : .onTime, done: nag.done, recurrence: nag.recurrence)
        scheduleOutcome(instance, next.id)
    }

    private func excuse(_ category: ExcuseCategory, _ nag: DemoNag, _ id: NagID, at moment: Timestamp) {
        let text = dice.pick(DemoWords.excuses[category] ?? [])
        at(moment) { [self] now in
            _ = try await nags.submitExcuse(
                caller(nag.to, at: now), Call(NagPath(nagID: id), ExcuseCreate(text: text)))
            _ = try await mediator.answer(
                AIOperations.summarizeExcuse, ExcuseQuestion(text: text, nagID: id), for: caller(nag.from, at: now))
        }
    }

    private func promise(_ nag: DemoNag, _ id: NagID, at moment: Timestamp) {
        at(moment) { [self] now in
            let change = NagUpdate(committedAt: .value(nag.due - .minutes(15)))
            _ = try await nags.update(caller(nag.to, at: now), Call(NagPath(nagID: id), change))
        }
    }

    private func snooze(_ nag: DemoNag, _ id: NagID) {
        at(nag.due - .minutes(50)) { [self] now in
            let change = NagUpdate(dueAt: nag.due + .minutes(20))
            _ = try await nags.update(caller(nag.to, at: now), Call(NagPath(nagID: id), change))
        }
    }

    private func dismiss(_ nag: DemoNag, _ id: NagID, at moment: Timestamp) {
        // The first dismissal is always reversed, so that the audit log has a reversal.
        let isReversed = dice.happens(25) || dismissals == 0
        dismissals += 1
        at(moment) { [self] now in
            _ = try await nags.dismiss(caller(nag.to, at: now), Call(NagPath(nagID: id), NoBody()))
            guard isReversed else { return }
            at(now + .minutes(9)) { [self] now in
                _ = try await nags.undismiss(caller(nag.to, at: now), Call(NagPath(nagID: id), NoBody()))
            }
        }
    }

    private func pushBack(_ nag: DemoNag, _ id: NagID, at moment: Timestamp) {
        at(moment) { [self] now in
            _ = try await mediator.answer(
                AIOperations.pushBack, NagQuestion(nagID: id), for: caller(nag.from, at: now))
        }
    }
}
