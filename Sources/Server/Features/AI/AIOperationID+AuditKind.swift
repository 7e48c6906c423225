import Audit
import NagzAI

extension AIOperationID {
    /// The kind of the audit entry for an answer.
    var auditKind: AuditKind {
        switch self {
        case .summarizeExcuse: .aiSummarizeExcuse
        case .selectTone: .aiSelectTone
        case .coaching: .aiCoaching
        case .patterns: .aiPatterns
        case .digest: .aiDigest
        case .predictCompletion: .aiPredictCompletion
        case .pushBack: .aiPushBack
        case .askCoach: .aiAskCoach
        }
    }

    /// The kind of the audit entry for a refusal.
    var deniedKind: AuditKind {
        switch self {
        case .summarizeExcuse: .aiSummarizeExcuseDenied
        case .selectTone: .aiSelectToneDenied
        case .coaching: .aiCoachingDenied
        case .patterns: .aiPatternsDenied
        case .digest: .aiDigestDenied
        case .predictCompletion: .aiPredictCompletionDenied
        case .pushBack: .aiPushBackDenied
        case .askCoach: .aiAskCoachDenied
        }
    }
}
