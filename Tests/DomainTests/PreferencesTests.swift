import Domain
import Testing

@Suite struct PreferencesTests {
    @Test func defaults() {
        let preferences = Preferences()
        #expect(!preferences.gamificationEnabled)
        #expect(!preferences.quietHoursEnabled)
        #expect(preferences.quietHours == nil)
        #expect(preferences.quietWindow.start.description == "22:00:00")
        #expect(preferences.quietWindow.end.description == "07:00:00")
        #expect(preferences.timeZone == "America/New_York")
        #expect(preferences.notificationFrequency == .always)
        #expect(preferences.deliveryChannel == .push)
        #expect(preferences.aiServerEnabled && preferences.aiOnDeviceEnabled)
        #expect(preferences.pushBackMode == .bounded)
        #expect(!preferences.usesCommitTimeForEscalation)
        #expect(!preferences.notifiesSentOverdue)
        #expect(preferences.tone == .friendly)
        #expect(Preferences(family: PreferenceOverrides(), user: PreferenceOverrides()) == preferences)
    }

    @Test func laterLayersWin() {
        var family = PreferenceOverrides()
        family.timeZone = "Europe/Berlin"
        family.quietHoursStart = clock("20:00")
        family.tone = .firm
        var user = PreferenceOverrides()
        user.quietHoursEnabled = true
        user.quietHoursEnd = clock("06:30")
        user.tone = .playful
        let effective = Preferences(family: family, user: user)
        #expect(effective.timeZone == "Europe/Berlin")
        #expect(effective.quietHours == QuietHours(start: clock("20:00"), end: clock("06:30")))
        #expect(effective.tone == .playful)
    }

    @Test func readsEveryKeyOfADocument() {
        let document: [String: PreferenceValue] = [
            "gamification_enabled": .flag(true), "quiet_hours_enabled": .flag(true),
            "quiet_hours_start": .text("21:15"), "quiet_hours_end": .text("06:00:30"), "timezone": .text("Asia/Tokyo"),
            "notification_frequency": .text("daily_digest"), "digest_at": .text("07:30"),
            "delivery_channel": .text("both"),
            "mute_until": .text("1970-01-02T00:00:00Z"),
            "ai_server_enabled": .flag(false), "ai_on_device_enabled": .flag(false), "pushback_mode": .text("off"),
            "use_commit_time_for_escalation": .flag(true), "notify_sent_overdue": .flag(true),
            "ai_mode": .text("apple_only"), "ai_privacy_level": .text("local"), "ai_model_local": .text("small"),
            "ai_model_cloud": .text("large"), "ai_token_threshold": .number(256),
            "ai_log_retention_days": .number(365), "ai_log_errors_only": .flag(true),
            "tone": .text("empathetic"), "colour": .text("green"),
        ]
        let read = Preferences(
            family: PreferenceOverrides(), user: PreferenceOverrides { document[$0.rawValue] })
        var expected = Preferences()
        expected.gamificationEnabled = true
        expected.quietHoursEnabled = true
        expected.quietWindow = QuietHours(start: clock("21:15"), end: clock("06:00:30"))
        expected.timeZone = "Asia/Tokyo"
        expected.notificationFrequency = .dailyDigest
        expected.digestAt = TimeOfDay("07:30") ?? .midnight
        expected.deliveryChannel = .both
        expected.muteUntil = Timestamp(seconds: 86_400)
        expected.aiServerEnabled = false
        expected.aiOnDeviceEnabled = false
        expected.pushBackMode = .off
        expected.usesCommitTimeForEscalation = true
        expected.notifiesSentOverdue = true
        expected.tone = .empathetic
        expected.aiMode = .onDeviceOnly
        expected.aiPrivacyLevel = .local
        expected.aiLocalModel = "small"
        expected.aiCloudModel = "large"
        expected.aiTokenThreshold = 256
        expected.aiLogRetentionDays = 365
        expected.aiLogsErrorsOnly = true
        #expect(read == expected)
    }

    @Test(
        "mistyped and unknown values of preferences change nothing",
        arguments: [
            (PreferenceKey.tone, PreferenceValue.text("grumpy")), (.tone, .flag(true)),
            (.quietHoursStart, .text("25:00")), (.gamificationEnabled, .text("true")),
            (.pushBackMode, .text("OFF")), (.deliveryChannel, .text("fax")),
            (.muteUntil, .text("tomorrow")), (.aiMode, .text("cloud")), (.aiTokenThreshold, .number(255)),
            (.aiLogRetentionDays, .number(366)), (.aiLogErrorsOnly, .number(1)),
        ])
    func ignores(_ key: PreferenceKey, _ value: PreferenceValue) {
        #expect(PreferenceOverrides { $0 == key ? value : nil } == PreferenceOverrides())
    }

    @Test(
        "each preferred tone has its tone of the mediator",
        arguments: [
            (PreferredTone.friendly, AITone.neutral), (.firm, .firm), (.playful, .supportive),
            (.empathetic, .supportive),
        ])
    func tones(_ preferred: PreferredTone, _ tone: AITone) { #expect(preferred.aiTone == tone) }
}

@Suite struct FamilyPolicyTests {
    @Test func standard() throws {
        let policy = try FamilyPolicy()
        #expect(policy == .standard)
        #expect(policy.dailyNagCap == 8 && policy.maxSnoozeMinutes == 30 && policy.pointsMultiplier == 1)
        #expect(policy.maxPushBacksPerNag == 2 && policy.pushBackCooldownMinutes == 60)
    }

    @Test("the bounds of a family policy are allowed", arguments: [(1, 5, 0.1, 0, 15), (8, 120, 3.0, 3, 240)])
    func accepts(_ cap: Int, _ snooze: Int, _ multiplier: Double, _ pushBack: Int, _ cooldown: Int) throws {
        let policy = try FamilyPolicy(
            dailyNagCap: cap, maxSnoozeMinutes: snooze, pointsMultiplier: multiplier, maxPushBacksPerNag: pushBack,
            pushBackCooldownMinutes: cooldown)
        #expect(policy.dailyNagCap == cap && policy.pushBackCooldownMinutes == cooldown)
    }

    @Test("a daily cap one step beyond its bounds is refused", arguments: [0, 9, .min, .max])
    func refusesCap(_ value: Int) {
        #expect(violation { () throws(PolicyViolation) in try FamilyPolicy(dailyNagCap: value) } == .dailyNagCap)
    }

    @Test(arguments: [4, 121]) func refusesSnooze(_ value: Int) {
        #expect(
            violation { () throws(PolicyViolation) in try FamilyPolicy(maxSnoozeMinutes: value) } == .maxSnoozeMinutes)
    }

    @Test(arguments: [0.09, 3.01, -1, .nan, .infinity]) func refusesMultiplier(_ value: Double) {
        #expect(
            violation { () throws(PolicyViolation) in try FamilyPolicy(pointsMultiplier: value) } == .pointsMultiplier)
    }

    @Test(arguments: [-1, 4]) func refusesPushBack(_ value: Int) {
        #expect(
            violation { () throws(PolicyViolation) in try FamilyPolicy(maxPushBacksPerNag: value) }
                == .maxPushBacksPerNag)
    }

    @Test(arguments: [14, 241]) func refusesCooldown(_ value: Int) {
        #expect(
            violation { () throws(PolicyViolation) in try FamilyPolicy(pushBackCooldownMinutes: value) }
                == .pushBackCooldownMinutes)
    }

    @Test func saysWhatIsAllowed() {
        #expect(throws: PolicyViolation.self) { try FamilyPolicy(dailyNagCap: 9) }
        do {
            _ = try FamilyPolicy(dailyNagCap: 9)
        } catch {
            #expect(error.message == "The daily nag cap must be between 1 and 8.")
        }
    }

    @Test(
        "a change of any limit that leaves more room widens a policy",
        arguments: [
            (8, 30, 1.0, 2, 60, false), (7, 30, 1, 2, 60, false), (8, 29, 1, 2, 60, false), (8, 30, 0.9, 2, 60, false),
            (8, 30, 1, 1, 60, false), (8, 30, 1, 2, 61, false), (8, 31, 1, 2, 60, true), (8, 30, 1.1, 2, 60, true),
            (8, 30, 1, 3, 60, true), (8, 30, 1, 2, 59, true), (1, 5, 0.1, 0, 15, true),
        ])
    func widens(
        _ cap: Int, _ snooze: Int, _ multiplier: Double, _ pushBack: Int, _ cooldown: Int, _ isWider: Bool
    ) throws {
        let policy = try FamilyPolicy(
            dailyNagCap: cap, maxSnoozeMinutes: snooze, pointsMultiplier: multiplier, maxPushBacksPerNag: pushBack,
            pushBackCooldownMinutes: cooldown)
        #expect(policy.widens(.standard) == isWider)
        #expect(FamilyPolicy.standard.widens(try FamilyPolicy(dailyNagCap: 7)))
    }

    private func violation(_ make: () throws(PolicyViolation) -> FamilyPolicy) -> PolicyViolation.Field? {
        do {
            _ = try make()
            return nil
        } catch {
            return error.field
        }
    }
}
