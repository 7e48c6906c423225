import Audit
import Contract
import Domain
import SQL

/// One write of a family: what must still hold, the statements that carry it out, and what the audit log says of it.
///
/// The statements read the ledger's stamps from `ledger_stamp`, so that they write nothing when the ledger
/// refuses:
///
///     INSERT INTO nags (family_id, id, …, sync_seq, sync_ts) SELECT family_id, \(id), …, seq, ts FROM ledger_stamp
///     UPDATE nags SET status = …, sync_seq = ledger_stamp.seq, sync_ts = ledger_stamp.ts FROM ledger_stamp WHERE
///     nags.family_id = ledger_stamp.family_id …
///
/// All of an act's statements see the database as it was before the act, and each row is changed by one of them at
/// most.
struct Act {
    /// What the decision behind the act rests on.
    enum Basis {
        /// Nothing in the family has changed since that number, which MUST have been read before or with all that the
        /// decision rests on: for decisions that count, compare or happen once.
        case nothingChanged(since: Int64)
        /// Nobody's rights, consents or preferences have changed since that number: for records of what was read.
        case rightsUnchanged(since: Int64)
        /// Nothing: for acts outside families, which rest on constraints alone.
        case nothing
    }

    var kind: AuditKind
    var basis: Basis
    var actor: Pseudonym
    var subject: Pseudonym?
    var resource: ResourceID?
    /// Whose erasure takes the details away: by default the subject's, or the actor's where there is none.
    var sealedFor: Pseudonym?
    /// Names and values for the audit log: ids, counts, codes. Never a person's words, secrets or addresses.
    var details: AuditBody = [:]
    /// Whether somebody may do more or less afterwards.
    var changesRights = false
    /// The most rows of one entity of the feed that the act stamps; 400 at most.
    var stampedRows = 1
    /// Whether acts of the same shape may be one statement: wherever a value stands in the statements, `ledger_stamp`
    /// MUST be in scope.
    var canMerge = false
    var statements: [SQL] = []

    /// Whose key seals the details.
    var personToldOf: Pseudonym { sealedFor ?? subject ?? actor }
}

/// What a feature decides to do about a request. Indirect: it lives in the frames of all that wait for it.
indirect enum Decision<Answer> {
    /// Write this and answer that, together or not at all.
    case perform(Act, Answer)
    /// Refuse, and put the refusal in the audit log.
    case refuse(Act, APIError)
    /// Refuse without writing: the log has told of it, and this one is counted.
    case refuseAgain(APIError)
    /// Answer without writing: nothing is to be done, or it was done before.
    case answer(Answer)

    /// Whose key seals what is to be written; nil where nothing is.
    var personToldOf: Pseudonym? {
        switch self {
        case .perform(let act, _), .refuse(let act, _): act.personToldOf
        case .refuseAgain, .answer: nil
        }
    }

    /// What the client is told, once it is done.
    @inline(never)
    func outcome() throws(APIError) -> Answer {
        switch self {
        case .perform(_, let answer), .answer(let answer): return answer
        case .refuse(_, let refusal), .refuseAgain(let refusal): throw refusal
        }
    }
}

/// The fixed actors of the audit log and the feed that are not people.
enum SystemActor {
    /// Time and policy: `actor_id` of events nobody caused.
    static let scheduler = UserID(high: 0x0000_0000_0000_4000, low: 0x8000_0000_0000_0001)
    /// The AI mediator, as an actor of the audit log.
    static let mediator = Pseudonym(high: 0x0000_0000_0000_4000, low: 0x8000_0000_0000_0002)
    /// Somebody who is not signed in.
    static let guest = Pseudonym(high: 0x0000_0000_0000_4000, low: 0x8000_0000_0000_0003)
    /// Whoever runs the command line.
    static let operating = Pseudonym(high: 0x0000_0000_0000_4000, low: 0x8000_0000_0000_0004)
}

extension FamilyID {
    /// The chain of acts outside any family.
    static let outside = FamilyID(high: 0, low: 0)
}
