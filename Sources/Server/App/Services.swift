import Domain
import HTTP
import NagzAI
import Postgres
import Reactor
import TimeZones

/// The parts that the features of one loop share. Used on that loop only.
package final class Services {
    package let database: Database
    /// The standby that reads long pages of the feed; nil where none is configured.
    let standby: Standby?
    let ledger: Ledger
    let access: Access
    package let clock: any WallClock
    package let random: any Randomness
    let tokens: Tokens
    package let verifiedTokens: VerifiedTokens
    let hashing: PasswordHashing
    /// The threads that check pictures and remove their metadata; nil where no pictures are received.
    let picturePool: BlockingPool?
    let heuristics: Heuristics
    package let zones = ZoneTable()
    let sealing: Sealing
    /// The status of the Merkle log.
    let checkpointStatus: CheckpointStatus
    /// The keys that sign the audit log and seal data, also people's own keys for models and the turns of AI sessions;
    /// nil if the operator has configured none.
    let auditKeyring: AuditKeyring?
    /// The times at which nags escalate; the same on every instance.
    let escalationPlan: EscalationPlan
    /// The memory for answers, shared by the connections of all loops. A handler reserves from it before it builds a
    /// large answer.
    let answerMemory: MemoryBudget
    /// The limiter of exports, shared by all loops.
    let exportLimiter: ExportLimiter
    /// The models that questions can be sent to.
    package let models: ModelGateways
    /// The sender of mails about accounts; nil where the operator has not configured any.
    let mailer: Mailer?
    /// The sender of codes by text message; nil where the operator has not configured a gateway for them.
    let textMessenger: TextMessenger?
    /// The public key that browsers subscribe with; nil where they get no messages.
    let webPushKey: String?
    /// The limiter of costly reads: one at a time for each person, two on this loop.
    let costlyReadLimiter: KeyedLimiter<UserID>

    init(
        database: Database, clock: any WallClock, random: any Randomness, tokens: Tokens, hashing: PasswordHashing,
        heuristics: Heuristics, auditKeyring: AuditKeyring?, checkpointStatus: CheckpointStatus,
        answerMemory: MemoryBudget, exportLimiter: ExportLimiter, escalationPlan: EscalationPlan,
        changes: ChangedFamilies?, picturePool: BlockingPool?, models: ModelGateways, standby: Standby?,
        mailer: Mailer?, textMessenger: TextMessenger?, webPushKey: String?
    ) {
        self.database = database
        self.standby = standby
        self.mailer = mailer
        self.textMessenger = textMessenger
        self.webPushKey = webPushKey
        self.clock = clock
        self.random = random
        self.tokens = tokens
        verifiedTokens = VerifiedTokens(tokens)
        self.hashing = hashing
        self.picturePool = picturePool
        self.models = models
        self.heuristics = heuristics
        access = Access()
        costlyReadLimiter = KeyedLimiter(
            database.poller, limit: 2, limitPerKey: 1, queueLimit: 256, timeout: .seconds(4))
        self.answerMemory = answerMemory
        self.exportLimiter = exportLimiter
        sealing = Sealing(auditKeyring, random: random)
        self.auditKeyring = auditKeyring
        self.escalationPlan = escalationPlan
        self.checkpointStatus = checkpointStatus
        ledger = Ledger(
            database: database, random: random, sealing: sealing, comparesClocks: clock.isComparedWithDatabase,
            changes: changes)
    }

    /// Creates the services of a process that answers no clients, such as a seed: without pictures, models, messages
    /// and checkpoints.
    convenience init(
        standalone database: Database, clock: any WallClock, random: any Randomness, tokens: Tokens,
        hashing: PasswordHashing, auditKeyring: AuditKeyring?, escalationPlan: EscalationPlan = .standard
    ) throws {
        self.init(
            database: database, clock: clock, random: random, tokens: tokens, hashing: hashing,
            heuristics: Heuristics(phrasebook: try Phrasebook.english()), auditKeyring: auditKeyring,
            checkpointStatus: CheckpointStatus(isOn: false), answerMemory: Limits().makeAnswerBudget(),
            exportLimiter: ExportLimiter(Limits()), escalationPlan: escalationPlan, changes: nil, picturePool: nil,
            models: ModelGateways(ModelOptions(), database.poller), standby: nil, mailer: nil, textMessenger: nil,
            webPushKey: nil)
    }
}
