import Contract
import Domain
import Server

/// The incidents of the demo family: people join and leave, rights change, and some acts are refused.
enum DemoIncidents {
    static func plan(on stage: DemoStage, birthdayDay: Int) {
        planVisit(stage)
        planRefusals(stage)
        planQuarrel(stage)
        planPointsPause(stage)
        planBirthday(birthdayDay, stage)
        planCorrections(stage)
    }

    /// Plans the stay of Iris for some weeks. When she is removed, a nag to her is still open, and is cancelled.
    private static func planVisit(_ stage: DemoStage) {
        let people = stage.people
        stage.schedule(at: stage.moment(-80, 12)) { now in
            try await stage.signUp(people.iris, at: now)
            try await stage.join(people.iris, at: now)
        }
        let completedNag = DemoNag(
            creator: people.nora, recipient: people.iris, text: "Bring back the spare key", category: .other,
            createdAt: stage.moment(-75, 10), dueAt: stage.moment(-75, 18), outcome: .onTime)
        let cancelledNag = DemoNag(
            creator: people.daniel, recipient: people.iris, text: "Return the drill", category: .other,
            createdAt: stage.moment(-55, 10), dueAt: stage.moment(-54, 18), outcome: .open)
        stage.plan(completedNag)
        stage.plan(cancelledNag)
        stage.schedule(at: stage.moment(-55, 14)) { now in
            try await stage.remove(people.iris, at: now)
            try await stage.signOut(people.iris, at: now)
        }
    }

    /// Plans acts that the person's role does not allow, and a change of the child's PIN with a failed sign-in. Each
    /// refusal leaves an entry in the audit log.
    private static func planRefusals(_ stage: DemoStage) {
        let people = stage.people
        stage.schedule(at: stage.moment(-70, 16)) { now in
            try await stage.requireRefusal {
                try await stage.createNag(
                    DemoNag(
                        creator: people.leo, recipient: people.maya, text: "Give back my pens", category: .other,
                        createdAt: now,
                        dueAt: now + .hours(2), outcome: .open),
                    at: now)
            }
        }
        stage.schedule(at: stage.moment(-69, 21)) { now in
            try await stage.requireRefusal {
                _ = try await stage.auditLog.list(
                    stage.caller(people.maya, at: now),
                    Call(AuditQuery(conditions: .init(familyID: stage.family)), NoBody()))
            }
        }
        stage.schedule(at: stage.moment(-20, 12)) { now in
            try await stage.requireRefusal {
                _ = try await stage.reports.weekly(
                    stage.caller(people.walter, at: now),
                    Call(FamilyQuery(familyID: stage.family), NoBody()))
            }
        }
        stage.schedule(at: stage.moment(-60, 16)) { try await stage.changePINAndSignIn(of: people.leo, at: $0) }
    }

    /// Plans a block between two members. It is lifted after three hours.
    private static func planQuarrel(_ stage: DemoStage) {
        let people = stage.people
        stage.schedule(at: stage.moment(-48, 20)) { now in
            let block = try await stage.safety.block(
                stage.caller(people.daniel, at: now),
                Call(NoParameters(), BlockCreate(targetID: people.walter.id)))
            stage.schedule(at: now + .hours(1)) { now in
                try await stage.requireRefusal {
                    try await stage.createNag(
                        DemoNag(
                            creator: people.walter, recipient: people.daniel, text: "Pick up the phone",
                            category: .other,
                            createdAt: now,
                            dueAt: now + .hours(1), outcome: .open),
                        at: now)
                }
            }
            stage.schedule(at: now + .hours(3)) { now in
                _ = try await stage.safety.updateBlock(
                    stage.caller(people.daniel, at: now),
                    Call(BlockPath(blockID: block.id), BlockUpdate(state: .lifted)))
            }
        }
    }

    /// Plans three days without points: the consent to them is revoked, and given again.
    private static func planPointsPause(_ stage: DemoStage) {
        let nora = stage.people.nora
        stage.schedule(at: stage.moment(-33, 10)) { now in
            let consentID = try await stage.grant(.gamificationParticipation, by: nora, at: now)
            _ = try await stage.consents.update(
                stage.caller(nora, at: now),
                Call(ConsentPath(consentID: consentID), ConsentUpdate(isRevoked: true)))
        }
        stage.schedule(at: stage.moment(-30, 10)) {
            try await stage.grant(.gamificationParticipation, by: nora, at: $0)
        }
    }

    /// Plans the preparation of a birthday: eight nags, and a ninth that the daily cap refuses.
    private static func planBirthday(_ day: Int, _ stage: DemoStage) {
        let people = stage.people
        let helpers = [people.nora, people.maya, people.leo, people.nora]
        for (number, text) in DemoWords.birthdayTasks.enumerated() {
            stage.plan(
                DemoNag(
                    creator: people.walter, recipient: helpers[number % helpers.count], text: text, category: .other,
                    createdAt: stage.moment(day, 8, number), dueAt: stage.moment(day, 12 + number), outcome: .onTime))
        }
        stage.schedule(at: stage.moment(day, 9)) { now in
            try await stage.requireRefusal {
                try await stage.createNag(
                    DemoNag(
                        creator: people.walter, recipient: people.nora, text: "One more thing", category: .other,
                        createdAt: now,
                        dueAt: now + .hours(3), outcome: .open),
                    at: now)
            }
        }
    }

    /// Plans corrections of a nag by its creator.
    private static func planCorrections(_ stage: DemoStage) {
        let people = stage.people
        stage.schedule(at: stage.moment(-15, 9, 5)) { now in
            let due = stage.moment(-15, 15)
            let id = try await stage.createNag(
                DemoNag(
                    creator: people.nora, recipient: people.daniel, text: "Parents' evening, room 12", category: .other,
                    createdAt: now,
                    dueAt: due, outcome: .open),
                at: now)
            let change = NagUpdate(dueAt: due + .hours(3), category: .appointments)
            stage.schedule(at: now + .minutes(6)) { now in
                _ = try await stage.nags.update(
                    stage.caller(people.nora, at: now), Call(NagPath(nagID: id), change))
            }
            stage.schedule(at: due + .hours(2)) { now in
                _ = try await stage.nags.updateStatus(
                    stage.caller(people.daniel, at: now),
                    Call(NagPath(nagID: id), NagStatusUpdate(status: .completed)))
            }
        }
    }
}
