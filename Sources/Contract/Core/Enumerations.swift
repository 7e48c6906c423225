import Domain
import NagzAI

/// An enumeration with string values. An unknown value is refused with the list of allowed ones.
public protocol WireEnumeration: WireText, CaseIterable, RawRepresentable where RawValue == String {}

extension WireEnumeration {
    public init(wireText: String) throws(InvalidInput) {
        guard let value = Self(rawValue: wireText) else {
            throw .notOne(of: Self.allCases.map(\.rawValue))
        }
        self = value
    }

    public var wireText: String { rawValue }
}

extension FamilyRole: WireEnumeration {}
extension FamilyCode: WireEnumeration {}
extension MembershipStatus: WireEnumeration {}
extension RelationshipStatus: WireEnumeration {}
extension ConnectionStatus: WireEnumeration {}
extension BlockState: WireEnumeration {}
extension AbuseReportStatus: WireEnumeration {}
extension AbuseReportSeverity: WireEnumeration {}
extension DeliveryChannel: WireEnumeration {}
extension DeliveryStatus: WireEnumeration {}
extension DevicePlatform: WireEnumeration {}
extension NagCategory: WireEnumeration {}
extension NagStatus: WireEnumeration {}
extension EscalationPhase: WireEnumeration {}
extension DoneDefinition: WireEnumeration {}
extension StrategyTemplate: WireEnumeration {}
extension Recurrence: WireEnumeration {}
extension MoveScope: WireEnumeration {}
extension ConsentType: WireEnumeration {}
extension ExcuseCategory: WireEnumeration {}
extension AITone: WireEnumeration {}
extension PushBackMode: WireEnumeration {}
extension PreferredTone: WireEnumeration {}
extension BadgeType: WireEnumeration {}
extension IncentiveTrigger: WireEnumeration {}
extension IncentiveReward: WireEnumeration {}
extension IncentiveApprovalMode: WireEnumeration {}
extension IncentiveRuleStatus: WireEnumeration {}
extension Weekday: WireEnumeration {}
extension PrivacyLevel: WireEnumeration {}
extension QuestionIntent: WireEnumeration {}
extension NetworkState: WireEnumeration {}
extension AIMode: WireEnumeration {}
extension TaskType: WireEnumeration {}
extension AIOperationID: WireEnumeration {}
extension AskedOperation: WireEnumeration {}
extension RoutingRule: WireEnumeration {}
extension RoutingDecision.Route: WireEnumeration {}
extension ConstraintScope: WireEnumeration {}
extension ConstraintType: WireEnumeration {}
extension DraftKind: WireEnumeration {}
extension StoredSource: WireEnumeration {}
extension DraftState: WireEnumeration {}
extension DraftEndReason: WireEnumeration {}
extension DraftSource: WireEnumeration {}
extension DraftSideEffect: WireEnumeration {}
extension KeyProvider: WireEnumeration {}
extension SchemaStyle: WireEnumeration {}
extension TokensField: WireEnumeration {}
extension Reach: WireEnumeration {}
extension ProviderName: WireEnumeration {}
extension TaskKind: WireEnumeration {}
