import Domain

extension FamilyReplay {
    mutating func createNag(_ entry: AuditEntry, _ body: AuditBody?) {
        guard let id = entry.act.resource else { return }
        let recipient = entry.act.subject
        insertNag(
            id, creator: .person(entry.act.actor), recipient: .person(recipient),
            category: ExpectedValue("category", of: recipient, in: body),
            dueAt: ExpectedValue(time: body?["due_at"], of: recipient), entry)
    }

    private mutating func insertNag(
        _ id: ResourceID, creator: ExpectedValue, recipient: ExpectedValue, category: ExpectedValue,
        dueAt: ExpectedValue, _ entry: AuditEntry
    ) {
        insert(
            .nag, .id(id),
            [
                "creator": creator, "recipient": recipient, "status": "open", "dismissed": "false", "phase": "0",
                "category": category, "due_at": dueAt, "sync_seq": ExpectedValue(entry.number),
            ], by: entry)
    }

    mutating func changeNag(_ entry: AuditEntry, _ kind: AuditKind, _ body: AuditBody?) {
        guard let id = entry.act.resource else { return }
        let recipient = entry.act.subject
        func set(_ values: KeyValuePairs<String, ExpectedValue>) { update(.nag, .id(id), values, by: entry) }
        set(["sync_seq": ExpectedValue(entry.number)])
        // If an instance of a series is moved, the next instance opens at another time.
        if let next = body?["following_nag"].flatMap({ ResourceID($0) }) {
            update(.nag, .id(next), ["sync_seq": ExpectedValue(entry.number)], by: entry)
        }
        switch kind {
        case .nagCommitted, .nagUpdated:
            guard let body else {
                return set(["category": .unknown, "due_at": .notRecorded(recipient), "phase": .unknown])
            }
            if let category = body["category"] { set(["category": .text(category)]) }
            if let dueAt = body["due_at"] {
                set(["due_at": ExpectedValue(time: dueAt, of: recipient), "phase": "0"])
            }
        case .nagSnoozed: set(["due_at": ExpectedValue(time: body?["due_at"], of: recipient)])
        case .nagWithdrawn: set(["status": "withdrawn"])
        case .nagDismissed: set(["dismissed": "true"])
        case .nagUndismissed: set(["dismissed": "false"])
        case .nagEscalated:
            let phase = body?["phase"].flatMap(EscalationPhase.init)?.number
            set(["phase": phase.map { ExpectedValue($0) } ?? .unknown])
            insertNextInstance(id, entry, body)
        case .nagCompleted, .nagMissed:
            set(["status": kind == .nagCompleted ? "completed" : "missed"])
            addScore(id, entry, kind, body)
            insertNextInstance(id, entry, body)
        default: break
        }
    }

    /// Inserts the next nag of a series, if the entry records one. If the entry has lost its details, it may have
    /// recorded one: the nag `id` is then added to `nagsWithUnreadEffects`.
    private mutating func insertNextInstance(_ id: ResourceID, _ entry: AuditEntry, _ body: AuditBody?) {
        guard let body else {
            nagsWithUnreadEffects.insert(id)
            return
        }
        guard let next = body["next_nag"].flatMap({ ResourceID($0) }), let nag = rows[.nag][.id(id)] else { return }
        insertNag(
            next, creator: nag["creator"] ?? .unknown, recipient: nag["recipient"] ?? .unknown,
            category: nag["category"] ?? .unknown,
            dueAt: ExpectedValue(time: body["next_due_at"], of: nag["recipient"]?.people.first), entry)
    }

    // MARK: Cancelling

    /// Cancels open nags.
    /// - Parameter isCertain: false where an entry without details does not say whether they are cancelled.
    mutating func cancelOpenNags(
        _ entry: AuditEntry, isCertain: Bool = true, where isIncluded: (ExpectedRow) -> Bool
    ) {
        for key in keys(.nag, where: { Self.mayBeOpen($0) && isIncluded($0) }) {
            let wasOpen = rows[.nag][key]?["status"] == "open"
            let recipient = rows[.nag][key]?["recipient"]?.people.first
            update(
                .nag, key,
                [
                    "status": isCertain ? Self.cancelled : .lostDetails(recipient),
                    "sync_seq": isCertain && wasOpen ? ExpectedValue(entry.number) : .unknown,
                ], by: entry)
        }
    }

    /// Cancels as many of the subject's open nags as the entry says, those with the lowest IDs first. Such entries come
    /// before a departure, a block, or a change of a connection.
    mutating func cancelNags(_ entry: AuditEntry, _ body: AuditBody?) {
        guard let person = entry.act.subject else { return }
        guard let count = body?["cancelled_nags"].flatMap({ Int($0) }) else {
            return cancelOpenNags(entry, isCertain: false) { $0["recipient"] == .person(person) }
        }
        let open = keys(.nag) { $0["recipient"] == .person(person) && $0["status"] == "open" }
            .sorted { $0.description < $1.description }
        for key in open.prefix(max(0, count)) {
            update(.nag, key, ["status": Self.cancelled, "sync_seq": ExpectedValue(entry.number)], by: entry)
        }
    }

    private static let cancelled: ExpectedValue = "cancelled_relationship_change"

    private static func mayBeOpen(_ nag: ExpectedRow) -> Bool {
        if case .lostDetails? = nag["status"] { true } else { nag["status"] == "open" }
    }
}
