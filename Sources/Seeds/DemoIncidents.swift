import Contract
import Domain
import Server

/// The incidents of the demo family: people join and leave, rights change, and some acts are refused.
enum DemoIncidents {
    static func plan(on stage: DemoStage, birthday: Int) {
        visit(stage)
        refusals(stage)
        quarrel(stage)
        pause(stage)
        plan(birthday: birthday, stage)
        corrections(stage)
    }

    /// Plans a member's stay of some weeks. Her nag that is still open when she is removed is cancelled.
    private static func visit(_ stage: DemoStage) {
        let people = stage.people
        stage.at(stage.moment(-80, 12)) { now in
            try await stage.signUp(people.iris, at: now)
            try await stage.join(people.iris, at: now)
        }
        let kept = DemoNag(
            from: people.nora, to: people.iris, text: "Bring back the spare key", category: .other,
            asked: stage.moment(-75, 10), due: stage.moment(-75, 18), outcome: .onTime)
        let cancelled = DemoNag(
            from: people.daniel, to: people.iris, text: "Return the drill", category: .other,
            asked: stage.moment(-55, 10), due: stage.moment(-54, 18), outcome: .open)
        stage.plan(kept)
        stage.plan(cancelled)
        stage.at(stage.moment(-55, 14)) { now in
            try await stage.remove(people.iris, at: now)
            try await stage.signOut(people.iris, at: now)
        }
    }

    /// Plans the refusals of the role matrix: each leaves an entry in the audit log.
    private static func refusals(_ stage: DemoStage) {
        let people = stage.people
        stage.at(stage.moment(-70, 16)) { now in
            try await stage.requireRefusal {
                try await stage.ask(
                    DemoNag(
                        from: people.leo, to: people.maya, text: "Give back my pens", category: .other, asked: now,
                        due: now + .hours(2), outcome: .open),
                    at: now)
            }
        }
        stage.at(stage.moment(-69, 21)) { now in
            try await stage.requireRefusal {
                _ = try await stage.auditLog.list(
                    stage.caller(people.maya, at: now),
                    Call(AuditQuery(conditions: .init(familyID: stage.family)), NoBody()))
            }
        }
        stage.at(stage.moment(-20, 12)) { now in
            try await stage.requireRefusal {
                _ = try await stage.reports.weekly(
                    stage.caller(people.walter, at: now),
                    Call(FamilyQuery(familyID: stage.family), NoBody()))
            }
        }
        stage.at(stage.moment(-60, 16)) { try await stage.changePIN(of: people.leo, at: $0) }
    }

    /// Plans a block between two members that is lifted after an evening.
    private static func quarrel(_ stage: DemoStage) {
        let people = stage.people
        stage.at(stage.moment(-48, 20)) { now in
            let block = try await stage.safety.block(
                stage.caller(people.daniel, at: now),
                Call(NoParameters(), BlockCreate(targetID: people.walter.id)))
            stage.at(now + .hours(1)) { now in
                try await stage.requireRefusal {
                    try await stage.ask(
                        DemoNag(
                            from: people.walter, to: people.daniel, text: "Pick up the phone", category: .other,
                            asked: now,
                            due: now + .hours(1), outcome: .open),
                        at: now)
                }
            }
            stage.at(now + .hours(3)) { now in
                _ = try await stage.safety.updateBlock(
                    stage.caller(people.daniel, at: now),
                    Call(BlockPath(blockID: block.id), BlockUpdate(state: .lifted)))
            }
        }
    }

    /// Plans three days without points: the consent is revoked and given again.
    private static func pause(_ stage: DemoStage) {
        let nora = stage.people.nora
        stage.at(stage.moment(-33, 10)) { now in
            let given = try await stage.grant(.gamificationParticipation, by: nora, at: now)
            _ = try await stage.consents.update(
                stage.caller(nora, at: now),
                Call(ConsentPath(consentID: given), ConsentUpdate(revoked: true)))
        }
        stage.at(stage.moment(-30, 10)) { try await stage.grant(.gamificationParticipation, by: nora, at: $0) }
    }

    /// Plans the preparation of a birthday: eight nags, and a ninth that the daily cap refuses.
    private static func plan(birthday day: Int, _ stage: DemoStage) {
        let people = stage.people
        let helpers = [people.nora, people.maya, people.leo, people.nora]
        for (number, text) in DemoWords.birthday.enumerated() {
            stage.plan(
                DemoNag(
                    from: people.walter, to: helpers[number % helpers.count], text: text, category: .other,
                    asked: stage.moment(day, 8, number), due: stage.moment(day, 12 + number), outcome: .onTime))
        }
        stage.at(stage.moment(day, 9)) { now in
            try await stage.requireRefusal {
                try await stage.ask(
                    DemoNag(
                        from: people.walter, to: people.nora, text: "One more thing", category: .other, asked: now,
                        due: now + .hours(3), outcome: .open),
                    at: now)
            }
        }
    }

    /// Plans corrections of a nag by its creator.
    private static func corrections(_ stage: DemoStage) {
        let people = stage.people
        stage.at(stage.moment(-15, 9, 5)) { now in
            let due = stage.moment(-15, 15)
            let id = try await stage.ask(
                DemoNag(
                    from: people.nora, to: people.daniel, text: "Parents' evening, room 12", category: .other,
                    asked: now,
                    due: due, outcome: .open),
                at: now)
            let change = NagUpdate(dueAt: due + .hours(3), category: .appointments)
            stage.at(now + .minutes(6)) { now in
                _ = try await stage.nags.update(
                    stage.caller(people.nora, at: now), Call(NagPath(nagID: id), change))
            }
            stage.at(due + .hours(2)) { now in
                _ = try await stage.nags.updateStatus(
                    stage.caller(people.daniel, at: now),
                    Call(NagPath(nagID: id), NagStatusUpdate(status: .completed)))
            }
        }
    }
}
