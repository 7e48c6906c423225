import Contract
import Domain
import NagzAI
import Postgres

/// The caller of an AI operation, as of one moment.
struct Requester {
    let pseudonym: Pseudonym
    /// The ledger's newest sequence number at that moment.
    let seq: Int64
    let settings: AISettings

    init(pseudonym: Pseudonym, seq: Int64, settings: AISettings) {
        self.pseudonym = pseudonym
        self.seq = seq
        self.settings = settings
    }

    init(_ member: Member, _ settings: AISettings) {
        self.init(pseudonym: member.pseudonym, seq: member.seq, settings: settings)
    }

    /// Requires that the person may use the AI.
    /// - Throws: 403 that names the missing part: the consent, or the person's own preference.
    static func requireAIAllowed(_ row: Row) throws {
        guard try row["has_consent"] else { throw APIError.aiConsentIsMissing }
        guard try row["is_enabled"] else { throw APIError.aiIsOff }
    }
}

extension APIError {
    /// Whether the denial is for a missing consent, or for a preference that switches the AI off.
    var isAIForbidden: Bool {
        reason == ErrorReason.consentMissing || reason == ErrorReason.switchedOff
    }
}

/// The AI preferences of a person who asks a question, and the version of the constraints that the person obeys. They
/// are read from `AIStatements.settingColumns` and `authority_seq`.
struct AISettings {
    let mode: AIMode
    let privacyLevel: PrivacyLevel
    /// The name of the local model that the person has chosen; nil for none.
    let localModel: String?
    /// The name of the cloud model that the person has chosen; nil for none.
    let cloudModel: String?
    /// The maximum number of tokens of a question that is routed locally where neither a constraint nor the privacy
    /// level decides. Longer questions are routed to the cloud.
    let tokenThreshold: Int
    /// Whether the history keeps only executions that failed.
    let logsErrorsOnly: Bool
    /// The person's family; nil without one.
    let homeFamily: FamilyID?
    /// The version of the constraints that the person obeys; nil without a family.
    let constraintsVersion: EffectiveConstraints.Version?

    init(_ row: Row) throws(PostgresError) {
        let (mode, level): (String?, String?) = (try row["ai_mode"], try row["ai_privacy_level"])
        self.mode = mode.flatMap { AIMode(named: $0) } ?? .heuristic
        (localModel, cloudModel) = (try row["ai_model_local"], try row["ai_model_cloud"])
        privacyLevel = level.flatMap(PrivacyLevel.init) ?? .auto
        let threshold: Int64? = try row["ai_token_threshold"]
        tokenThreshold = threshold.map { Int(clamping: $0) } ?? AIChoices.standard.tokenThreshold
        logsErrorsOnly = try row["logs_errors_only"]
        let home: FamilyID? = try row["home_id"]
        let seq: Int64? = try row["authority_seq"]
        homeFamily = home
        constraintsVersion = if let home, let seq { EffectiveConstraints.Version(family: home, seq: seq) } else { nil }
    }
}
