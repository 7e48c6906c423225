import Audit
import Contract
import Domain
import SQL

/// One write to the data of a family, of a connection or outside both: its basis, the statements that carry it out, and
/// its entry in the audit log.
///
/// The statements take sequence number and time from `ledger_stamp`, so that they write nothing when the ledger refuses
/// the act. `ledger_stamp` also has the request's `now` and `trace`, so that these are sent only once.
///
///     INSERT INTO nags (family_id, id, …, sync_seq, sync_ts) SELECT family_id, \(id), …, seq, ts FROM ledger_stamp
///     UPDATE nags SET status = …, sync_seq = ledger_stamp.seq, sync_ts = ledger_stamp.ts FROM ledger_stamp WHERE
///     nags.family_id = ledger_stamp.family_id …
///
/// All statements of an act see the database as it was before the act. No two of them may change the same row.
struct Act {
    /// The condition that must still hold when the act is written.
    enum Basis {
        /// Nothing in the family has changed since that sequence number, which MUST have been read before or together
        /// with everything that the decision depends on. For decisions that count or compare, or that may happen only
        /// once.
        case nothingChanged(since: Int64)
        /// Nobody's rights, consents or preferences have changed since that sequence number. For decisions that depend
        /// on nothing else, such as a denial, a sign-in or the record of a read.
        case rightsUnchanged(since: Int64)
        /// Nothing: for acts that depend on constraints of the database alone, or that no other act can make wrong.
        case nothing
    }

    var kind: AuditKind
    var basis: Basis
    var actor: Pseudonym
    /// The person whom the act concerns; nil where there is none.
    var subject: Pseudonym?
    /// The nag, policy, device or other thing that the act concerns; nil where there is none.
    var resource: ResourceID?
    /// The person whose erasure removes the details. If it is nil, that is the subject, or without a subject the actor.
    var sealingSubject: Pseudonym?
    /// The details for the audit log: ids, counts and codes by name. They MUST NOT contain a person's text, secrets or
    /// addresses.
    var details: AuditBody = [:]
    /// Whether the act changes anybody's rights, consents or preferences.
    var changesRights = false
    /// The maximum number of feed rows of one type that the act may stamp: 400 or less, so that a page of the feed, with
    /// 500 rows, always holds all rows of one second (`ledger_ts` in the migrations).
    var stampedRows = 1
    /// Whether acts of the same shape may share one statement. Wherever the statements contain a value, `ledger_stamp`
    /// MUST be in scope.
    var canMerge = false
    /// At most as many as `Ledger.cteBeginnings`: each is one part of the act's statement.
    var statements: [SQL] = []

    /// The person whose key seals the details.
    var dataSubject: Pseudonym { sealingSubject ?? subject ?? actor }
}

/// A feature's decision about a request. It is indirect, because every waiting write keeps one in its frame.
indirect enum Decision<Answer> {
    /// Write the act and give the answer, both or neither.
    case perform(Act, Answer)
    /// Refuse, and write the act, which records the refusal in the audit log, or the draft that the request became.
    case refuse(Act, APIError)
    /// Refuse without an entry, because the refusal was recorded before and this one is only counted.
    case refuseAgain(APIError)
    /// Answer without writing: there is nothing to do, or it was done before.
    case answer(Answer)

    /// The person whose key seals the entry; nil where nothing is written.
    var dataSubject: Pseudonym? {
        switch self {
        case .perform(let act, _), .refuse(let act, _): act.dataSubject
        case .refuseAgain, .answer: nil
        }
    }

    /// Returns the answer to the client.
    /// - Throws: the refusal.
    @inline(never)
    func outcome() throws(APIError) -> Answer {
        switch self {
        case .perform(_, let answer), .answer(let answer): return answer
        case .refuse(_, let refusal), .refuseAgain(let refusal): throw refusal
        }
    }
}

/// The actors of the audit log and the feed that are not people.
package enum SystemActor {
    /// The scheduler, which acts by time and policy: the `actor_id` of events that no person caused.
    package static let scheduler = UserID(high: 0x0000_0000_0000_4000, low: 0x8000_0000_0000_0001)
    /// The AI mediator.
    static let mediator = Pseudonym(high: 0x0000_0000_0000_4000, low: 0x8000_0000_0000_0002)
    /// A client that is not signed in.
    static let guest = Pseudonym(high: 0x0000_0000_0000_4000, low: 0x8000_0000_0000_0003)
    /// The operator at the command line.
    static let commandLine = Pseudonym(high: 0x0000_0000_0000_4000, low: 0x8000_0000_0000_0004)
}

extension FamilyID {
    /// The id of the chain of acts outside any family.
    package static let outside = FamilyID(high: 0, low: 0)
}
