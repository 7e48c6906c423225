import Audit
import NagzAI

extension AIOperationID {
    /// The kinds of the audit entries for an answer and for a refusal.
    var auditKinds: (answered: AuditKind, denied: AuditKind) {
        switch self {
        case .summarizeExcuse: (.aiSummarizeExcuse, .aiSummarizeExcuseDenied)
        case .selectTone: (.aiSelectTone, .aiSelectToneDenied)
        case .coaching: (.aiCoaching, .aiCoachingDenied)
        case .patterns: (.aiPatterns, .aiPatternsDenied)
        case .digest: (.aiDigest, .aiDigestDenied)
        case .predictCompletion: (.aiPredictCompletion, .aiPredictCompletionDenied)
        case .pushBack: (.aiPushBack, .aiPushBackDenied)
        case .askCoach: (.aiAskCoach, .aiAskCoachDenied)
        }
    }
}
