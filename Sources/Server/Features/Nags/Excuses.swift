import Audit
import Contract
import Domain
import NagzAI
import Postgres
import SQL

extension Nags {
    /// Submits an excuse, for the recipient, at most `NagLimit.excusesPerDay` a day. Its text is the recipient's own
    /// words, or their device's summary. The excuse does not change the nag, and no event, audit log or server log
    /// contains its words.
    func submitExcuse(
        _ caller: Caller, _ call: Call<NagPath, ExcuseCreate>, as input: Provenance
    ) async throws -> ExcuseResponse {
        let category = try call.body.category.map { name throws(APIError) in
            guard let category = ExcuseCategory(rawValue: name) else { throw APIError.excuseCategoryIsUnknown }
            return category
        }
        return try await decideAndPerform(caller, on: call.parameters.nagID, .submitExcuse) { view, queries in
            try input.requireOutboxFamily(of: view.nag)
            let rows = try await queries.query(NagStatements.excusePermission(caller.userID, in: view.settingsFamily))
            guard let permission = rows.first, try permission["has_consent"] else {
                return view.refuse(
                    .submitExcuse, reason: ErrorReason.consentMissing,
                    APIError.aiConsentIsMissing)
            }
            guard try view.role != .child || permission["can_submit_excuses"] else {
                return view.refuse(.submitExcuse, .excusesNotAllowed, .policyForbidden)
            }
            // An excuse is a message to the creator. After the creator has left, only the guardians read it.
            let contactDenial = try await denialOfContact(of: view, with: [view.nag.creatorID], queries)
            if let contactDenial, contactDenial != .relationshipRevoked {
                return view.refuse(.submitExcuse, contactDenial, .policyForbidden)
            }
            guard view.nag.status == .open || view.nag.status == .missed else {
                throw APIError(.conflict, .nagNotOpen)
            }
            let today = countedDay(of: view.record, at: caller.now)
            let count = try await queries.query(
                NagStatements.countExcuses(by: caller.userID, in: view.ledgerID, day: today)
            ).onlyRow()
            if let denial = NagLimit.denialOfExcuse(submittedToday: try count["count"]) {
                return view.refuse(.submitExcuse, limit: denial, at: caller.now)
            }
            let excuse = Excuse(
                id: services.random.identifier(at: caller.now), text: call.body.text, category: category,
                nag: view.nag.id,
                services.heuristics)
            let length = call.body.text.unicodeScalars.count
            var details: AuditBody = ["category": excuse.category.rawValue, "text_length": "\(length)"]
            details.merge(input.auditDetails)
            return .perform(
                view.act(
                    .excuseSubmitted, details: details,
                    statements: [
                        NagStatements.insert(excuse, by: caller.userID, source: input.source, at: caller.now),
                        event(
                            .excuseSubmitted, view, at: caller.now, ["category": excuse.category.rawValue], from: input),
                        input.insert(.excuse, by: caller.userID, on: view.nag.id, at: caller.now),
                        IngestionStatements.insert(
                            excuse.classification(from: input), of: input.event, at: caller.now),
                    ]),
                ExcuseResponse(id: excuse.id, nagID: view.nag.id, summary: excuse.summary, at: caller.now))
        }
    }

    /// Submits an excuse for a request. The method above also serves inputs of an outbox.
    package func submitExcuse(_ caller: Caller, _ call: Call<NagPath, ExcuseCreate>) async throws -> ExcuseResponse {
        try await submitExcuse(caller, call, as: provenance(of: call.body.capture, at: caller.now))
    }

    /// Lists the excuses of a nag, newest first, for its creator, the guardians, and the recipient who wrote them.
    func listExcuses(_ caller: Caller, _ call: Call<ExcuseListQuery, NoBody>) async throws -> Page<ExcuseResponse> {
        let query = call.parameters
        return try await decideAndPerform(caller, on: query.nagID) { view, queries in
            if !view.part.contains(.recipient), let denial = RoleMatrix.denial(of: .readExcuses, by: view.part) {
                return view.refuse(.readExcuses, denial)
            }
            let rows = try await queries.query(
                NagStatements.excuses(of: query.nagID, in: view.ledgerID, query.page))
            return .answer(
                try Page(rows, answering: query.page) { row in
                    guard let id: ExcuseID = try row["id"] else { return nil }
                    return ExcuseResponse(id: id, nagID: query.nagID, summary: try row["summary"], at: try row["at"])
                })
        }
    }
}

/// An excuse as the database stores it.
struct Excuse {
    let id: ExcuseID
    let nag: NagID
    /// The words of the excuse; nil if only a summary left the author's device.
    let text: String?
    let summary: String
    let category: ExcuseCategory
    /// The confidence of the category, from 0 to 1; 1 if the author's device chose it.
    let confidence: Double

    /// Creates an excuse. With a category, the text is the device's summary; without one, the rules summarise the text.
    init(id: ExcuseID, text: String, category: ExcuseCategory?, nag: NagID, _ heuristics: Heuristics) {
        self.id = id
        self.nag = nag
        if let category {
            (self.text, summary, self.category, confidence) = (nil, text, category, 1)
        } else {
            let answer = heuristics.excuseSummary(of: text, nagID: nag).response
            (self.text, summary, self.category, confidence) = (text, answer.summary, answer.category, answer.confidence)
        }
    }

    /// Returns the category of the excuse as an enrichment. Its source is the input's if the author's device chose the
    /// category, and the system if the rules did.
    func classification(from input: Provenance) -> Enrichment {
        .classification(category, confidence: confidence, source: text == nil ? input.source : .system)
    }
}

extension NagStatements {
    /// Reads whether a member may submit excuses: the AI consent, and a child's setting. No row for somebody who never
    /// was a member of the family.
    static func excusePermission(_ user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT \(ConsentStatements.isInForce(.aiMediation, user: "m.user_id", family: "m.family_id")) AS has_consent,
               coalesce(k.can_submit_excuses, true) AS can_submit_excuses
        FROM memberships m LEFT JOIN child_settings k ON k.family_id = m.family_id AND k.user_id = m.user_id
        WHERE m.family_id = \(family) AND m.user_id = \(user)
        """
    }

    /// Counts the excuses that somebody submitted on the family's local day.
    static func countExcuses(by author: UserID, in family: FamilyID, day: Range<Timestamp>) -> SQL {
        """
        SELECT count(*) AS count FROM excuses
        WHERE family_id = \(family) AND author_id = \(author) AND at >= \(day.lowerBound) AND at < \(day.upperBound)
        """
    }

    static func insert(_ excuse: Excuse, by author: UserID, source: StoredSource, at now: Timestamp) -> SQL {
        """
        INSERT INTO excuses (family_id, id, nag_id, author_id, text, summary, category, confidence, source, at)
        SELECT family_id, \(excuse.id), \(excuse.nag), \(author), \(excuse.text), \(excuse.summary),
               \(excuse.category), \(excuse.confidence), \(source), \(now)
        FROM ledger_stamp
        """
    }

    /// Reads a page of a nag's excuses, the newest first.
    static func excuses(of nag: NagID, in family: FamilyID, _ page: PageRequest) -> SQL {
        page.select(
            "x.id, x.summary, x.at", from: "excuses", as: "x",
            where: "x.family_id = \(family) AND x.nag_id = \(nag)", orderBy: "x.at DESC, x.id DESC")
    }

    /// The words of a person's excuses: in families that they have left, and for nags of connections. The summaries
    /// stay, because others have seen them.
    static let excuseWordsOfPerson = PersonalRows(
        keys: { author, limit in
            """
            SELECT e.family_id, e.id FROM memberships m
            JOIN excuses e ON e.family_id = m.family_id AND e.author_id = m.user_id AND e.text IS NOT NULL
            WHERE m.user_id = \(author) AND m.status = 'removed'
            UNION ALL
            SELECT e.family_id, e.id FROM nags n
            JOIN excuses e ON e.family_id = n.family_id AND e.nag_id = n.id AND e.author_id = n.recipient_id
                AND e.text IS NOT NULL
            WHERE n.connection_id IS NOT NULL AND n.recipient_id = \(author)
            LIMIT \(limit)
            """
        },
        erase: { "UPDATE excuses SET text = NULL WHERE (family_id, id) IN (\($0))" })
}
