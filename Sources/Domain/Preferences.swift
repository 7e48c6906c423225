/// The effective settings of one person in one family: defaults, then the family's settings, then the person's own.
public struct Preferences: Hashable, Sendable {
    /// Whether the person gets points, badges and rewards, if they have given the consent `gamification_participation`.
    public var gamificationEnabled = false
    public var quietHoursEnabled = false
    /// The window of the quiet hours, which is kept while they are off.
    public var quietWindow = QuietHours.standard
    /// The name of a zone in the IANA time zone database.
    public var timeZone = Preferences.standardTimeZone
    public var notificationFrequency = NotificationFrequency.always
    /// The time of the daily digest.
    public var digestAt = TimeOfDay.sixInTheEvening
    public var deliveryChannel = PreferredChannel.push
    /// The time until which the person gets no notifications.
    public var muteUntil: Timestamp?
    /// Whether the server answers the person's AI questions at all.
    public var aiServerEnabled = true
    /// Whether the person's devices may answer AI questions.
    public var aiOnDeviceEnabled = true
    /// The mode of push-backs on nags to the person.
    public var pushBackMode = PushBackMode.bounded
    /// Whether a nag to the person escalates from the time to which they committed, if there is one, and not from its
    /// due time.
    public var usesCommitTimeForEscalation = false
    /// Whether the person, and not the recipient, is notified of the last phase of nags that the person sent.
    public var notifiesSentOverdue = false
    /// The tone of the AI's words about nags to the person, unless their misses or streak call for another.
    public var tone = PreferredTone.friendly
    /// The mode that decides what may answer the person's AI questions.
    public var aiMode = AIMode.heuristic
    /// The privacy level of AI questions that name none themselves.
    public var aiPrivacyLevel = PrivacyLevel.auto
    /// The preferred model of the device or of the server's gateway; nil for the first available one.
    public var aiLocalModel: String?
    /// The preferred model of those for which the person has keys: a model, a provider or `provider/model`; nil for the
    /// first available one.
    public var aiCloudModel: String?
    /// The number of tokens above which a question goes to the server, unless it has to stay on the device, as the
    /// words of an excuse do.
    public var aiTokenThreshold = 4_096
    /// The number of days for which the person's AI executions are kept.
    public var aiLogRetentionDays = 30
    /// Whether only AI executions that failed are kept.
    public var aiLogsErrorsOnly = false

    public static let aiTokenThresholdRange = 256...32_768
    public static let aiLogRetentionDaysRange = 7...365

    /// The time zone of families that have not set one.
    public static let standardTimeZone = "America/New_York"

    /// Creates the defaults.
    public init() {}

    /// Creates the defaults, and applies the family's values, then the person's own.
    public init(family: PreferenceOverrides, user: PreferenceOverrides) {
        self.init()
        apply(family)
        apply(user)
    }

    /// The quiet hours; nil while they are off.
    public var quietHours: QuietHours? { quietHoursEnabled ? quietWindow : nil }

    private mutating func apply(_ layer: PreferenceOverrides) {
        gamificationEnabled = layer.gamificationEnabled ?? gamificationEnabled
        quietHoursEnabled = layer.quietHoursEnabled ?? quietHoursEnabled
        quietWindow = QuietHours(
            start: layer.quietHoursStart ?? quietWindow.start, end: layer.quietHoursEnd ?? quietWindow.end)
        timeZone = layer.timeZone ?? timeZone
        notificationFrequency = layer.notificationFrequency ?? notificationFrequency
        digestAt = layer.digestAt ?? digestAt
        deliveryChannel = layer.deliveryChannel ?? deliveryChannel
        muteUntil = layer.muteUntil ?? muteUntil
        aiServerEnabled = layer.aiServerEnabled ?? aiServerEnabled
        aiOnDeviceEnabled = layer.aiOnDeviceEnabled ?? aiOnDeviceEnabled
        pushBackMode = layer.pushBackMode ?? pushBackMode
        usesCommitTimeForEscalation = layer.usesCommitTimeForEscalation ?? usesCommitTimeForEscalation
        notifiesSentOverdue = layer.notifiesSentOverdue ?? notifiesSentOverdue
        tone = layer.tone ?? tone
        aiMode = layer.aiMode ?? aiMode
        aiPrivacyLevel = layer.aiPrivacyLevel ?? aiPrivacyLevel
        aiLocalModel = layer.aiLocalModel ?? aiLocalModel
        aiCloudModel = layer.aiCloudModel ?? aiCloudModel
        aiTokenThreshold = layer.aiTokenThreshold ?? aiTokenThreshold
        aiLogRetentionDays = layer.aiLogRetentionDays ?? aiLogRetentionDays
        aiLogsErrorsOnly = layer.aiLogsErrorsOnly ?? aiLogsErrorsOnly
    }
}

extension Preferences {
    /// Returns the channels of the person's notifications. Without the consent to text messages it is push alone.
    /// - Parameter hasSMSConsent: whether the person has consented to text messages.
    public func channels(hasSMSConsent: Bool) -> [DeliveryChannel] {
        DeliveryChannel.allCases.filter { channel in
            switch channel {
            case .push: deliveryChannel != .sms || !hasSMSConsent
            case .sms: deliveryChannel != .push && hasSMSConsent
            }
        }
    }

    /// Returns whether the notification of a phase waits for the daily digest. Notifications about medicine and of the
    /// last phase never wait.
    public func isHeldForDigest(_ phase: EscalationPhase, of category: NagCategory?) -> Bool {
        notificationFrequency == .dailyDigest && category != .meds && phase != .guardianReview
    }

    /// Returns whether the person wants repeated reminders of an overdue nag in that phase.
    public func hasReminders(in phase: EscalationPhase, of category: NagCategory?) -> Bool {
        notificationFrequency != .oncePerPhase && !isHeldForDigest(phase, of: category)
    }
}

/// The tone that a person prefers. It maps to the mediator's `AITone`.
public enum PreferredTone: String, Sendable, CaseIterable {
    case friendly, firm, playful, empathetic

    public var aiTone: AITone {
        switch self {
        case .friendly: .neutral
        case .firm: .firm
        case .playful, .empathetic: .supportive
        }
    }
}

/// One layer of preferences, with the names of `Preferences`, which describes them. A nil value does not change the
/// layer below.
public struct PreferenceOverrides: Hashable, Sendable {
    public var gamificationEnabled: Bool?
    public var quietHoursEnabled: Bool?
    public var quietHoursStart: TimeOfDay?
    public var quietHoursEnd: TimeOfDay?
    public var timeZone: String?
    public var notificationFrequency: NotificationFrequency?
    public var digestAt: TimeOfDay?
    public var deliveryChannel: PreferredChannel?
    public var muteUntil: Timestamp?
    public var aiServerEnabled: Bool?
    public var aiOnDeviceEnabled: Bool?
    public var pushBackMode: PushBackMode?
    public var usesCommitTimeForEscalation: Bool?
    public var notifiesSentOverdue: Bool?
    public var tone: PreferredTone?
    public var aiMode: AIMode?
    public var aiPrivacyLevel: PrivacyLevel?
    public var aiLocalModel: String?
    public var aiCloudModel: String?
    public var aiTokenThreshold: Int?
    public var aiLogRetentionDays: Int?
    public var aiLogsErrorsOnly: Bool?

    public init() {}

    /// Reads the values of a preferences document. A missing, mistyped or unknown value becomes nil, because clients
    /// may store anything in the document.
    public init(reading value: (PreferenceKey) -> PreferenceValue?) {
        func flag(_ key: PreferenceKey) -> Bool? { if case .flag(let flag)? = value(key) { flag } else { nil } }
        func text(_ key: PreferenceKey) -> String? { if case .text(let text)? = value(key) { text } else { nil } }
        func number(_ key: PreferenceKey, _ range: ClosedRange<Int>) -> Int? {
            if case .number(let number)? = value(key), range.contains(number) { number } else { nil }
        }
        gamificationEnabled = flag(.gamificationEnabled)
        quietHoursEnabled = flag(.quietHoursEnabled)
        quietHoursStart = text(.quietHoursStart).flatMap { TimeOfDay($0) }
        quietHoursEnd = text(.quietHoursEnd).flatMap { TimeOfDay($0) }
        timeZone = text(.timeZone)
        notificationFrequency = text(.notificationFrequency).flatMap(NotificationFrequency.init)
        digestAt = text(.digestAt).flatMap { TimeOfDay($0) }
        deliveryChannel = text(.deliveryChannel).flatMap(PreferredChannel.init)
        muteUntil = text(.muteUntil).flatMap { Timestamp(rfc3339: $0) }
        aiServerEnabled = flag(.aiServerEnabled)
        aiOnDeviceEnabled = flag(.aiOnDeviceEnabled)
        pushBackMode = text(.pushBackMode).flatMap(PushBackMode.init)
        usesCommitTimeForEscalation = flag(.useCommitTimeForEscalation)
        notifiesSentOverdue = flag(.notifySentOverdue)
        tone = text(.tone).flatMap(PreferredTone.init)
        aiMode = text(.aiMode).flatMap { AIMode(named: $0) }
        aiPrivacyLevel = text(.aiPrivacyLevel).flatMap(PrivacyLevel.init)
        aiLocalModel = text(.aiLocalModel)
        aiCloudModel = text(.aiCloudModel)
        aiTokenThreshold = number(.aiTokenThreshold, Preferences.aiTokenThresholdRange)
        aiLogRetentionDays = number(.aiLogRetentionDays, Preferences.aiLogRetentionDaysRange)
        aiLogsErrorsOnly = flag(.aiLogErrorsOnly)
    }
}

/// The keys of a preferences document that the server understands; other keys are kept unchanged.
public enum PreferenceKey: String, Sendable, CaseIterable {
    case gamificationEnabled = "gamification_enabled"
    case quietHoursEnabled = "quiet_hours_enabled"
    case quietHoursStart = "quiet_hours_start"
    case quietHoursEnd = "quiet_hours_end"
    case timeZone = "timezone"
    case notificationFrequency = "notification_frequency"
    case digestAt = "digest_at"
    case deliveryChannel = "delivery_channel"
    case muteUntil = "mute_until"
    case aiServerEnabled = "ai_server_enabled"
    case aiOnDeviceEnabled = "ai_on_device_enabled"
    case pushBackMode = "pushback_mode"
    case useCommitTimeForEscalation = "use_commit_time_for_escalation"
    case notifySentOverdue = "notify_sent_overdue"
    case tone
    case aiMode = "ai_mode"
    case aiPrivacyLevel = "ai_privacy_level"
    case aiLocalModel = "ai_model_local"
    case aiCloudModel = "ai_model_cloud"
    case aiTokenThreshold = "ai_token_threshold"
    case aiLogRetentionDays = "ai_log_retention_days"
    case aiLogErrorsOnly = "ai_log_errors_only"
}

/// A value of a preferences document.
public enum PreferenceValue: Hashable, Sendable {
    case flag(Bool)
    case text(String)
    case number(Int)
}
