import Domain
import JSON
import NagzAI

/// The facts that a device needs besides the feed's rows to run AI operations, as of the same moment: members, their
/// preferences, and totals over a longer past than the feed has.
///
/// Guardians get all members, others only themselves.
public struct FamilyFacts: Hashable, WireObject {
    /// The family's zone.
    public var timeZone: String
    public var maxPushBack: Int
    public var cooldownMinutes: Int
    /// Whether the consent `ai_mediation` is in force for the caller.
    public var allowsMediation: Bool
    public var members: [MemberFacts]
    /// The constraints that the caller's questions obey, in the order of evaluation; older servers send none.
    public var constraints: [ConstraintFacts]
    /// The caller's choices for their questions; older servers do not say it.
    public var choices: AIChoices

    public init(
        timeZone: String, maxPushBack: Int, cooldownMinutes: Int, allowsMediation: Bool, members: [MemberFacts],
        constraints: [ConstraintFacts] = [], choices: AIChoices = .standard
    ) {
        self.timeZone = timeZone
        self.maxPushBack = maxPushBack
        self.cooldownMinutes = cooldownMinutes
        self.allowsMediation = allowsMediation
        self.members = members
        self.constraints = constraints
        self.choices = choices
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        timeZone = try fields.required("time_zone")
        maxPushBack = try fields.required("max_pushback")
        cooldownMinutes = try fields.required("cooldown_minutes")
        allowsMediation = try fields.required("ai_mediation")
        members = try fields.required("members")
        constraints = try fields.defaulted("constraints", to: [])
        choices = try fields.defaulted("ai_choices", to: .standard)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("time_zone", timeZone)
            json.field("max_pushback", maxPushBack)
            json.field("cooldown_minutes", cooldownMinutes)
            json.field("ai_mediation", allowsMediation)
            json.field("members", members)
            json.field("constraints", constraints)
            json.field("ai_choices", choices)
        }
    }
}

extension AIChoices: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            mode: try fields.required("ai_mode"), privacyLevel: try fields.required("ai_privacy_level"),
            tokenThreshold: try fields.required("ai_token_threshold"))
        // An earlier server does not send them.
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

/// An enabled constraint of the family, or of the person whose device it is.
public struct ConstraintFacts: Hashable, WireObject {
    public var id: ConstraintID
    public var terms: ConstraintTerms

    public init(id: ConstraintID, terms: ConstraintTerms) {
        self.id = id
        self.terms = terms
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        terms = try ConstraintTerms(fields)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            terms.writeFields(to: &json)
        }
    }
}

/// One member, including removed ones, with totals.
public struct MemberFacts: Hashable, WireObject {
    public var userID: UserID
    public var displayName: String?
    public var role: FamilyRole
    public var status: MembershipStatus
    /// The effective zone: the person's own or the family's.
    public var timeZone: String
    /// The effective quiet hours; nil while they are off.
    public var quietHours: QuietHours?
    public var pushBackMode: PushBackMode
    /// The tone that the person asks for.
    public var tone: PreferredTone
    /// Whether the person allows AI operations on their device.
    public var allowsOnDevice: Bool
    public var streak: Int
    /// All completed or missed nags of the person; categories without any are left out.
    public var resolved: [ResolvedNags]
    /// The counted push-backs on the person's open nags, without their words; nags without any are left out, and older
    /// servers send none.
    public var pushBacks: [NagPushBacks]

    public init(
        userID: UserID, displayName: String?, role: FamilyRole, status: MembershipStatus, timeZone: String,
        quietHours: QuietHours?, pushBackMode: PushBackMode, tone: PreferredTone = .friendly, allowsOnDevice: Bool,
        streak: Int, resolved: [ResolvedNags], pushBacks: [NagPushBacks] = []
    ) {
        self.userID = userID
        self.displayName = displayName
        self.role = role
        self.status = status
        self.timeZone = timeZone
        self.quietHours = quietHours
        self.pushBackMode = pushBackMode
        self.tone = tone
        self.allowsOnDevice = allowsOnDevice
        self.streak = streak
        self.resolved = resolved
        self.pushBacks = pushBacks
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
        allowsOnDevice = try fields.required("ai_on_device_enabled")
        streak = try fields.required("streak")
        resolved = try fields.required("resolved")
        pushBacks = try fields.defaulted("push_backs", to: [])
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
            json.field("ai_on_device_enabled", allowsOnDevice)
            json.field("streak", streak)
            json.field("resolved", resolved)
            json.field("push_backs", pushBacks)
        }
    }
}

/// The number of resolved nags in a category, and of those completed.
public struct ResolvedNags: Hashable, WireObject {
    public var category: NagCategory
    public var total: Int
    public var completed: Int

    public init(category: NagCategory, total: Int, completed: Int) {
        self.category = category
        self.total = total
        self.completed = completed
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        category = try fields.required("category")
        total = try fields.required("total")
        completed = try fields.required("completed")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("category", category)
            json.field("total", total)
            json.field("completed", completed)
        }
    }
}

/// The push-backs on a nag that count towards its limits.
public struct NagPushBacks: Hashable, WireObject {
    public var nagID: NagID
    /// The times since the nag's due cycle began.
    public var counted: [Timestamp]
    /// The last one before that: the cooldown outlives the cycle.
    public var earlier: Timestamp?

    public init(nagID: NagID, counted: [Timestamp], earlier: Timestamp?) {
        self.nagID = nagID
        self.counted = counted
        self.earlier = earlier
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        nagID = try fields.required("nag_id")
        counted = try fields.required("counted")
        earlier = try fields.optional("earlier")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("nag_id", nagID)
            json.field("counted", counted)
            json.field("earlier", earlier)
        }
    }
}
