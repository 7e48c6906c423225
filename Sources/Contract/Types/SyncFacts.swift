import Domain
import JSON
import NagzAI

extension AIChoices: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            mode: try fields.required("ai_mode"), privacyLevel: try fields.required("ai_privacy_level"),
            tokenThreshold: try fields.required("ai_token_threshold"))
        // Older servers do not send these members.
        logRetentionDays = try fields.optional("ai_log_retention_days") ?? logRetentionDays
        logsErrorsOnly = try fields.optional("ai_log_errors_only") ?? logsErrorsOnly
        localModel = try fields.optional("ai_model_local")
        cloudModel = try fields.optional("ai_model_cloud")
        isServerEnabled = try fields.optional("ai_server_enabled") ?? isServerEnabled
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("ai_mode", mode)
            json.field("ai_privacy_level", privacyLevel)
            json.field("ai_token_threshold", tokenThreshold)
            json.field("ai_log_retention_days", logRetentionDays)
            json.field("ai_log_errors_only", logsErrorsOnly)
            json.field("ai_model_local", localModel)
            json.field("ai_model_cloud", cloudModel)
            json.field("ai_server_enabled", isServerEnabled)
        }
    }
}

/// The facts about a present or removed member, for AI operations on a device.
public struct MemberFacts: Hashable, WireObject {
    public var userID: UserID
    public var displayName: String?
    public var role: FamilyRole
    public var status: MembershipStatus
    /// The effective time zone: the person's own or the family's.
    public var timeZone: String
    /// The effective quiet hours; nil while they are off.
    public var quietHours: QuietHours?
    public var pushBackMode: PushBackMode
    /// The tone that the person prefers.
    public var tone: PreferredTone
    /// Whether the person allows AI operations on their device.
    public var allowsOnDeviceAI: Bool
    /// The number of nags that the person has done on time since their last miss.
    public var streak: Int
    /// The numbers of the person's resolved nags (completed or missed) by category; categories without any are omitted.
    public var resolvedCounts: [ResolvedNags]
    /// The push-backs on the person's open nags, without their words; nags without any are omitted. Older servers send
    /// none.
    public var openNagPushBacks: [NagPushBacks]

    public init(
        userID: UserID, displayName: String?, role: FamilyRole, status: MembershipStatus, timeZone: String,
        quietHours: QuietHours?, pushBackMode: PushBackMode, tone: PreferredTone = .friendly, allowsOnDeviceAI: Bool,
        streak: Int, resolvedCounts: [ResolvedNags], openNagPushBacks: [NagPushBacks] = []
    ) {
        self.userID = userID
        self.displayName = displayName
        self.role = role
        self.status = status
        self.timeZone = timeZone
        self.quietHours = quietHours
        self.pushBackMode = pushBackMode
        self.tone = tone
        self.allowsOnDeviceAI = allowsOnDeviceAI
        self.streak = streak
        self.resolvedCounts = resolvedCounts
        self.openNagPushBacks = openNagPushBacks
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        userID = try fields.required("user_id")
        displayName = try fields.optional("display_name")
        role = try fields.required("role")
        status = try fields.required("status")
        timeZone = try fields.required("time_zone")
        let start: TimeOfDay? = try fields.optional("quiet_hours_start")
        let end: TimeOfDay? = try fields.optional("quiet_hours_end")
        quietHours = start.flatMap { start in end.map { QuietHours(start: start, end: $0) } }
        pushBackMode = try fields.required("pushback_mode")
        tone = try fields.required("tone")
        allowsOnDeviceAI = try fields.required("ai_on_device_enabled")
        streak = try fields.required("streak")
        resolvedCounts = try fields.required("resolved")
        openNagPushBacks = try fields.defaulted("push_backs", to: [])
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("user_id", userID)
            json.field("display_name", displayName)
            json.field("role", role)
            json.field("status", status)
            json.field("time_zone", timeZone)
            json.field("quiet_hours_start", quietHours?.start)
            json.field("quiet_hours_end", quietHours?.end)
            json.field("pushback_mode", pushBackMode)
            json.field("tone", tone)
            json.field("ai_on_device_enabled", allowsOnDeviceAI)
            json.field("streak", streak)
            json.field("resolved", resolvedCounts)
            json.field("push_backs", openNagPushBacks)
        }
    }
}
