import Domain

extension FamilyReconciliation {
    /// Adds a finding. If the replay stopped before an entry that may explain the row, the finding counts as unproven,
    /// because the entries before that do not prove it.
    mutating func add(_ finding: StateFinding) {
        if let stop = replay.damage.stop, lastChange.map({ $0 >= stop }) ?? true {
            report.addUnproven(finding)
        } else {
            report.add(finding)
        }
    }

    /// Reports a row whose entry has lost its details: as a gap if the person was erased, as unproven if the entry
    /// cannot be read.
    /// - Parameter person: the person whom the entry is about; nil where that may be several people.
    mutating func addLostDetails(_ subject: StateFinding.Subject, _ id: String, of person: Pseudonym?) {
        if isDamaged(person) { report.addUnproven(finding(subject, id, .unread)) } else { report.add(.erased) }
    }

    /// Whether an entry about a person, or about anybody, cannot be read.
    func isDamaged(_ person: Pseudonym?) -> Bool {
        person.map(replay.damage.people.contains) ?? !replay.damage.people.isEmpty
    }

    func finding(
        _ subject: StateFinding.Subject, _ id: String, _ problem: StateFinding.Problem, _ number: Int64? = nil
    ) -> StateFinding { StateFinding(subject, id, problem, family: replay.family, number: number) }

    /// Reports a row that no entry records: as a gap if retention may have deleted the entry.
    mutating func addUnknown(_ subject: StateFinding.Subject, _ id: String, _ number: Int64 = 0) {
        if replay.cut > 0, number <= replay.cut {
            report.add(.pruned)
        } else {
            add(finding(subject, id, .noEntry))
        }
    }

    mutating func addMissing(_ subject: StateFinding.Subject, _ id: String, _ number: Int64?) {
        add(finding(subject, id, .noRow, number))
    }

    mutating func addDifference(
        _ subject: StateFinding.Subject, _ id: String, _ field: String, _ found: String, _ expected: String,
        _ number: Int64?
    ) {
        var finding = finding(subject, id, .differs, number)
        (finding.field, finding.found, finding.expected) = (field, found, expected)
        add(finding)
    }

    mutating func compare(
        _ subject: StateFinding.Subject, _ id: String, _ field: String, _ found: String, _ expected: String,
        _ number: Int64?
    ) {
        if found != expected { addDifference(subject, id, field, found, expected, number) }
    }

    /// Compares a person in a row with the one in an entry. The row has nobody for an erased person, whose pseudonym
    /// stays in the entry.
    mutating func compare(
        person found: Pseudonym?, _ expected: Pseudonym?, _ subject: StateFinding.Subject, _ id: String,
        _ field: String, _ number: Int64?
    ) {
        guard let found else {
            if let expected, !replay.erased.contains(expected) {
                addDifference(subject, id, field, "nobody", expected.description, number)
            }
            return
        }
        if found != expected {
            addDifference(subject, id, field, found.description, expected?.description ?? "nobody", number)
        }
    }
}
