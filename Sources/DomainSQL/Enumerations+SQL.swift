import Domain
import SQL

// These enumerations are stored as their raw values.

extension FamilyRole: SQLBindable, SQLDecodable {}
extension MembershipStatus: SQLBindable, SQLDecodable {}
extension RelationshipStatus: SQLBindable, SQLDecodable {}
extension BlockState: SQLBindable, SQLDecodable {}
extension DeliveryChannel: SQLBindable, SQLDecodable {}
extension DeliveryStatus: SQLBindable, SQLDecodable {}
extension DevicePlatform: SQLBindable, SQLDecodable {}
extension ConnectionStatus: SQLBindable, SQLDecodable {}
extension AbuseReportStatus: SQLBindable, SQLDecodable {}
extension AbuseReportSeverity: SQLBindable, SQLDecodable {}
extension NagCategory: SQLBindable, SQLDecodable {}
extension NagStatus: SQLBindable, SQLDecodable {}
extension DoneDefinition: SQLBindable, SQLDecodable {}
extension StrategyTemplate: SQLBindable, SQLDecodable {}
extension Recurrence: SQLBindable, SQLDecodable {}
extension ConsentType: SQLBindable, SQLDecodable {}
extension ExcuseCategory: SQLBindable, SQLDecodable {}
extension AITone: SQLBindable, SQLDecodable {}
extension PushBackMode: SQLBindable, SQLDecodable {}
extension PreferredTone: SQLBindable, SQLDecodable {}
extension BadgeType: SQLBindable, SQLDecodable {}
extension IncentiveTrigger: SQLBindable, SQLDecodable {}
extension IncentiveReward: SQLBindable, SQLDecodable {}
extension IncentiveApprovalMode: SQLBindable, SQLDecodable {}
extension IncentiveRuleStatus: SQLBindable, SQLDecodable {}
extension DraftKind: SQLBindable, SQLDecodable {}
extension DraftSource: SQLBindable, SQLDecodable {}
extension StoredSource: SQLBindable, SQLDecodable {}
extension DraftState: SQLBindable, SQLDecodable {}
extension DraftEndReason: SQLBindable, SQLDecodable {}
extension ConstraintType: SQLBindable, SQLDecodable {}
extension KeyProvider: SQLBindable, SQLDecodable {}
