import Contract
import Domain
import NagzAI
import SeededNumbers
import Server

/// A nag of the demo, and its outcome.
struct DemoNag {
    enum Outcome {
        case onTime, late, missed
        /// The creator withdraws the nag soon after its creation.
        case withdrawn
        /// The nag stays open.
        case open
    }

    let creator: DemoPerson
    let recipient: DemoPerson
    let text: String
    let category: NagCategory
    let createdAt: Timestamp
    let dueAt: Timestamp
    let outcome: Outcome
    /// The excuse, which is submitted half an hour before the nag is due; nil for none.
    var excuse: ExcuseCategory?
    var doneDefinition = DoneDefinition.acknowledgeOnly
    var recurrence: Recurrence?
}

extension DemoStage {
    /// The time from the due time of a nag until the scheduler marks it as missed.
    private static let timeUntilMissed = EscalationPlan.standard.missed

    /// Schedules a nag and its outcome.
    func plan(_ nag: DemoNag) {
        schedule(at: nag.createdAt) { [self] now in
            let id = try await createNag(nag, at: now)
            try await scheduleQuestions(nag, id, at: now)
            scheduleOutcome(nag, id)
        }
    }

    /// Creates the nag at once, as its creator.
    @discardableResult
    func createNag(_ nag: DemoNag, at now: Timestamp) async throws -> NagID {
        let request = NagCreate(
            familyID: family, recipientID: nag.recipient.id, dueAt: nag.dueAt, category: nag.category,
            doneDefinition: nag.doneDefinition,
            description: nag.text, recurrence: nag.recurrence)
        return try await nags.create(caller(nag.creator, at: now), Call(NoParameters(), request)).id
    }

    /// Schedules questions to the mediator about the nag, each with its own probability.
    private func scheduleQuestions(_ nag: DemoNag, _ id: NagID, at now: Timestamp) async throws {
        if dice.happens(percent: 18) {
            schedule(at: now + .minutes(3)) { [self] now in
                _ = try await mediator.answer(
                    AIOperations.selectTone, NagQuestion(nagID: id), for: caller(nag.creator, at: now))
            }
        }
        if dice.happens(percent: 12) {
            schedule(at: now + .minutes(4)) { [self] now in
                _ = try await mediator.answer(
                    AIOperations.predictCompletion, NagQuestion(nagID: id), for: caller(nag.creator, at: now))
            }
        }
        if dice.happens(percent: 12) {
            schedule(at: now + .minutes(20)) { [self] now in
                _ = try await mediator.answer(
                    AIOperations.coaching, NagQuestion(nagID: id), for: caller(nag.recipient, at: now))
            }
        }
    }

    /// Schedules the excuse and the outcome of a nag.
    private func scheduleOutcome(_ nag: DemoNag, _ id: NagID) {
        if let category = nag.excuse { scheduleExcuse(category, nag, id, at: nag.dueAt - .minutes(30)) }
        switch nag.outcome {
        case .open: break
        case .withdrawn:
            schedule(at: nag.createdAt + .minutes(25)) { [self] now in
                _ = try await nags.withdraw(caller(nag.creator, at: now), Call(NagPath(nagID: id), NoBody()))
            }
        case .onTime:
            if nag.recipient.role == .guardian, dice.happens(percent: 25) {
                scheduleCommitment(nag, id, at: nag.createdAt + .minutes(10))
            }
            if nag.recipient.role == .child, dice.happens(percent: 10) { scheduleSnooze(nag, id) }
            scheduleCompletion(nag, id, at: nag.dueAt - .minutes(Int64(12 + dice.number(below: 30))))
        case .late:
            if dice.happens(percent: 40) { schedulePushBack(nag, id, at: nag.dueAt + .minutes(70)) }
            scheduleCompletion(nag, id, at: nag.dueAt + .minutes(Int64(95 + dice.number(below: 80))))
        case .missed:
            if dice.happens(percent: 50) { schedulePushBack(nag, id, at: nag.dueAt + .minutes(65)) }
            let isDismissed = dice.happens(percent: 30)
            // The series creates its next instance when the nag is overdue.
            schedule(at: nag.dueAt + .minutes(1)) { [self] now in try await scheduleNextOutcome(nag, after: id, at: now)
            }
            schedule(at: nag.dueAt + Self.timeUntilMissed) { [self] now in
                _ = try await nags.miss(id, in: family, at: now)
                if isDismissed { scheduleDismissal(nag, id, at: now + .hours(2)) }
            }
        }
    }

    private func scheduleCompletion(_ nag: DemoNag, _ id: NagID, at moment: Timestamp) {
        let note =
            nag.doneDefinition == .binaryWithNote || dice.happens(percent: 10)
            ? dice.pick(DemoWords.completionNotes) : nil
        schedule(at: moment) { [self] now in
            _ = try await nags.updateStatus(
                caller(nag.recipient, at: now),
                Call(NagPath(nagID: id), NagStatusUpdate(status: .completed, note: note)))
            try await scheduleNextOutcome(nag, after: id, at: now)
        }
    }

    /// Schedules the outcome of the next instance of a series. It is completed on time, except for one day on which the
    /// pill is missed.
    private func scheduleNextOutcome(_ nag: DemoNag, after id: NagID, at now: Timestamp) async throws {
        guard nag.recurrence != nil else { return }
        let open = try await nags.list(
            caller(nag.recipient, at: now), Call(NagListQuery(familyID: family, status: .open), NoBody()))
        guard let next = open.items.first(where: { $0.parentNagID == id }) else { return }
        let isMissed = nag.category == .meds && next.dueAt > moment(-62, 0) && next.dueAt < moment(-61, 0)
        let instance = DemoNag(
            creator: nag.creator, recipient: nag.recipient, text: nag.text, category: nag.category, createdAt: now,
            dueAt: next.dueAt,
            outcome: isMissed ? .missed : .onTime, doneDefinition: nag.doneDefinition, recurrence: nag.recurrence)
        scheduleOutcome(instance, next.id)
    }

    private func scheduleExcuse(_ category: ExcuseCategory, _ nag: DemoNag, _ id: NagID, at moment: Timestamp) {
        let text = dice.pick(DemoWords.excuses[category] ?? [])
        schedule(at: moment) { [self] now in
            _ = try await nags.submitExcuse(
                caller(nag.recipient, at: now), Call(NagPath(nagID: id), ExcuseCreate(text: text)))
            _ = try await mediator.answer(
                AIOperations.summarizeExcuse, ExcuseQuestion(text: text, nagID: id), for: caller(nag.creator, at: now))
        }
    }

    private func scheduleCommitment(_ nag: DemoNag, _ id: NagID, at moment: Timestamp) {
        schedule(at: moment) { [self] now in
            let change = NagUpdate(committedAt: .value(nag.dueAt - .minutes(15)))
            _ = try await nags.update(caller(nag.recipient, at: now), Call(NagPath(nagID: id), change))
        }
    }

    private func scheduleSnooze(_ nag: DemoNag, _ id: NagID) {
        schedule(at: nag.dueAt - .minutes(50)) { [self] now in
            let change = NagUpdate(dueAt: nag.dueAt + .minutes(20))
            _ = try await nags.update(caller(nag.recipient, at: now), Call(NagPath(nagID: id), change))
        }
    }

    /// Schedules that the recipient dismisses a missed nag, and sometimes reverses that.
    private func scheduleDismissal(_ nag: DemoNag, _ id: NagID, at moment: Timestamp) {
        // The first dismissal is always reversed, so that the audit log has a reversal.
        let isReversed = dice.happens(percent: 25) || dismissalCount == 0
        dismissalCount += 1
        schedule(at: moment) { [self] now in
            _ = try await nags.dismiss(caller(nag.recipient, at: now), Call(NagPath(nagID: id), NoBody()))
            guard isReversed else { return }
            schedule(at: now + .minutes(9)) { [self] now in
                _ = try await nags.undismiss(caller(nag.recipient, at: now), Call(NagPath(nagID: id), NoBody()))
            }
        }
    }

    /// Schedules that the creator asks the mediator for an insistent reminder.
    private func schedulePushBack(_ nag: DemoNag, _ id: NagID, at moment: Timestamp) {
        schedule(at: moment) { [self] now in
            _ = try await mediator.answer(
                AIOperations.pushBack, NagQuestion(nagID: id), for: caller(nag.creator, at: now))
        }
    }
}
