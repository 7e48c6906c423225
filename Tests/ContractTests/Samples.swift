import Contract
import Domain
import JSON
import NagzAI
import Testing

extension Sample {
    /// One for every operation.
    static let all =
        identity + family + nags + fun + rights + figures + feed + auditLog + plain + devices + abuseReports
        + accountData + connections + incentives + attachments + aiConstraints + aiExecutions + drafts + imports + keys

    static func id<Kind>(_ number: UInt64) -> Identifier<Kind> { Identifier(high: 0xABCD, low: number) }
    /// A refined text that is known to be fine.
    static func read<Text: WireText>(_ text: String) -> Text {
        do { return try Text(wireText: text) } catch { preconditionFailure("\(text) \(error.message)") }
    }

    static let moment = Timestamp(microseconds: 1_770_091_506_789_123)
    static let time = TimeOfDay("21:30")
    static let page = PageRequest(limit: 20, offset: 40)
    static func page<Item>(_ item: Item) -> Page<Item> { Page(items: [item], total: 41, answering: page) }

    // MARK: auth, preferences

    private static let auth = AuthResponse(
        accessToken: Secret("a.b.c"), refreshToken: Secret("r"), expiresIn: 86_400,
        user: AuthUser(
            id: id(1), email: "robin@example.org", displayName: "Robin", status: "active", createdAt: moment,
            familyMemberships: [FamilyMembership(familyID: id(2), role: .guardian)]),
        familyID: id(2), familyRole: .guardian)
    private static var signedIn: AuthResponse {
        var answer = auth
        answer.deviceSecret = Secret("d")
        return answer
    }
    private static let preferences = PreferenceResponse(
        userID: id(1), familyID: id(2), schemaVersion: 1, preferences: ["tone": "friendly", "own": [1, nil]],
        etag: "e1", updatedAt: moment)
    private static let update = PreferenceUpdate(preferences: [
        "gamification_enabled": true, "quiet_hours_enabled": true, "quiet_hours_start": "21:30",
        "quiet_hours_end": "06:45", "timezone": "Europe/Berlin", "notification_frequency": "daily_digest",
        "digest_at": "17:00", "delivery_channel": "both", "mute_until": "2026-02-03T04:05:06Z",
        "ai_server_enabled": true, "ai_on_device_enabled": false, "pushback_mode": "off",
        "use_commit_time_for_escalation": true, "notify_sent_overdue": true, "tone": "firm", "ai_mode": "auto",
        "ai_privacy_level": "local", "ai_model_local": "small", "ai_model_cloud": "large",
        "ai_token_threshold": 512, "ai_log_retention_days": 7, "ai_log_errors_only": true,
    ])

    private static let identity = [
        Sample(API.getVersion, NoParameters(), NoBody(), VersionResponse(serverVersion: "0.1.0")),
        Sample(
            API.deleteAccount, AccountPath(userID: id(1)), NoBody(),
            AccountResponse(
                id: id(1), email: nil, displayName: "Robin", status: "deleted", createdAt: moment)),
        Sample(
            API.signUp, NoParameters(),
            SignupRequest(
                email: read("a@b.org"), password: Secret("12345678"), displayName: "A",
                dateOfBirth: CivilDate(year: 2015, month: 2, day: 3).map(DateOfBirth.init)), signedIn),
        Sample(
            API.logIn, NoParameters(),
            LoginRequest(email: read("a@b.org"), password: Secret("x"), deviceSecret: Secret("d")), signedIn),
        Sample(API.refreshSession, NoParameters(), RefreshRequest(refreshToken: Secret("r")), auth),
        Sample(
            API.childLogIn, NoParameters(),
            ChildLoginRequest(familyCode: "ABC123", username: "kit", pin: read("0481")), auth),
        Sample(API.logOut, NoParameters(), RefreshRequest(refreshToken: Secret("r")), NoAnswer()),
        Sample(API.getPreferences, FamilyQuery(familyID: id(2)), NoBody(), preferences),
        Sample(API.updatePreferences, FamilyQuery(familyID: id(2)), update, preferences),
        Sample(API.getMemberPreferences, .init(userID: id(1), familyID: id(2)), NoBody(), preferences),
        Sample(API.updateMemberPreferences, .init(userID: id(1), familyID: id(2)), update, preferences),
    ]

    // MARK: families

    private static let theFamily = FamilyResponse(
        id: id(2), name: "Home", inviteCode: "code", childCode: "ABC123", timeZone: "Europe/Berlin", createdAt: moment)
    private static let member = MemberResponse(
        userID: id(1), familyID: id(2), role: .child, status: .active, joinedAt: moment)
    private static let detail = MemberDetail(
        userID: id(1), displayName: nil, familyID: id(2), role: .child, status: .removed, joinedAt: moment,
        hasChildLogin: true, loginLockedUntil: moment)
    private static let settings = ChildSettingsResponse(
        childID: id(1), familyID: id(2), canSnooze: true, maxSnoozesPerDay: 3, canSubmitExcuses: false,
        quietHoursStart: time, quietHoursEnd: nil)
    private static let inFamily = FamilyPath(familyID: id(2))
    private static let ofMember = MemberPath(familyID: id(2), userID: id(1))

    private static let family = [
        Sample(API.createFamily, NoParameters(), FamilyCreate(name: "Home", timeZone: "Europe/Berlin"), theFamily),
        Sample(API.listFamilies, page, NoBody(), page(theFamily)),
        Sample(API.getFamily, inFamily, NoBody(), theFamily),
        Sample(API.updateFamily, inFamily, FamilyUpdate(name: "Home", timeZone: "Europe/Berlin"), theFamily),
        Sample(API.joinFamily, NoParameters(), JoinRequest(inviteCode: "ABC12345"), member),
        Sample(API.joinFamilyByID, inFamily, JoinRequest(inviteCode: "ABC12345"), member),
        Sample(API.addMember, inFamily, MemberAdd(userID: id(1), role: .participant), member),
        Sample(API.listMembers, .init(familyID: id(2), page: page), NoBody(), page(detail)),
        Sample(
            API.createMember, inFamily,
            MemberCreateAndAdd(displayName: "Kit", role: .child, username: "kit", pin: read("1234")),
            detail),
        Sample(API.removeMember, ofMember, NoBody(), member),
        Sample(API.leaveFamily, inFamily, NoBody(), member),
        Sample(API.renewFamilyCode, inFamily, CodeRenewal(code: .child), theFamily),
        Sample(
            API.setChildCredentials, ofMember, ChildCredentialsSet(username: "kit", pin: read("1234")),
            detail),
        Sample(API.unlockMember, ofMember, NoBody(), detail),
        Sample(
            API.changePIN, ofMember,
            PinChangeRequest(currentPin: read("1234"), newPin: read("4321")),
            StatusAnswer(status: "ok")),
        Sample(API.getChildSettings, ofMember, NoBody(), settings),
        Sample(
            API.updateChildSettings, ofMember,
            ChildSettingsUpdate(
                canSnooze: true, maxSnoozesPerDay: 99, canSubmitExcuses: true, quietHoursStart: .null,
                quietHoursEnd: time.map(Patch.value) ?? .absent), settings),
    ]

    // MARK: nags

    private static let nag = NagResponse(
        id: id(3), familyID: id(2), connectionID: nil, creatorID: id(1), recipientID: id(4),
        creatorDisplayName: "Robin", recipientDisplayName: nil, dueAt: moment, category: .meds,
        doneDefinition: .binaryWithNote, description: "Line\n\"two\"", strategyTemplate: .friendlyReminder,
        recurrence: .every15Minutes, opensAt: moment, parentNagID: id(5), status: .cancelledRelationshipChange,
        createdAt: moment,
        completedAt: nil, committedAt: moment, recipientDismissedAt: nil,
        attachmentURLs: [AttachmentURL(id(28)), AttachmentURL(id(29))])
    private static let excuse = ExcuseResponse(id: id(6), nagID: id(3), summary: "Late", at: moment)
    private static let ofNag = NagPath(nagID: id(3))

    private static let nags = [
        Sample(
            API.createNag, NoParameters(),
            NagCreate(
                familyID: id(2), connectionID: id(7), recipientID: id(4), dueAt: moment, category: .chores,
                doneDefinition: .acknowledgeOnly, description: "Bins", policyID: id(8), recurrence: .daily,
                attachmentIDs: [id(28)], capture: capture), nag),
        Sample(
            API.listNags,
            NagListQuery(
                familyID: id(2), connectionID: id(7), status: .open, category: .chores, excludeDismissed: true,
                page: page),
            NoBody(), page(nag)),
        Sample(API.getNag, ofNag, NoBody(), nag),
        Sample(
            API.updateNag, ofNag,
            NagUpdate(
                dueAt: moment, scope: .series, category: .other, doneDefinition: .binaryCheck,
                description: .value("Bins"),
                committedAt: .null, capture: capture), nag),
        Sample(
            API.updateNagStatus, ofNag, NagStatusUpdate(status: .completed, note: "done", capture: capture), nag),
        Sample(API.withdrawNag, ofNag, NoBody(), nag),
        Sample(API.dismissNag, ofNag, NoBody(), nag),
        Sample(API.undismissNag, ofNag, NoBody(), nag),
        Sample(
            API.submitExcuse, ofNag, ExcuseCreate(text: "The bus", category: "time_conflict", capture: capture), excuse),
        Sample(API.listExcuses, ExcuseListQuery(nagID: id(3), page: page), NoBody(), page(excuse)),
        Sample(API.getEscalation, ofNag, NoBody(), escalation),
        Sample(API.recomputeEscalation, ofNag, NoBody(), escalation),
    ]

    private static let capture = Capture(.camera, confidence: 0.5, context: .capture)

    private static let escalation = EscalationResponse(
        nagID: id(3), currentPhase: .overdueSoft, dueAt: moment, computedAt: moment, nextStepAt: moment,
        nextReminderAt: moment)

    // MARK: gamification

    private static let points = GamificationEventResponse(
        id: id(9), familyID: id(2), userID: id(1), eventType: "on_time", deltaPoints: 10, streakDelta: -3, at: moment)

    private static let fun = [
        Sample(
            API.getGamificationSummary, FamilyQuery(familyID: id(2)), NoBody(),
            GamificationSummary(familyID: id(2), userID: id(1), totalPoints: 14, currentStreak: 2, eventCount: 3)),
        Sample(
            API.getLeaderboard, FamilyQuery(familyID: id(2)), NoBody(),
            LeaderboardResponse(
                familyID: id(2), periodStart: moment, entries: [LeaderboardEntry(userID: id(1), totalPoints: 14)])),
        Sample(
            API.listGamificationEvents, .init(userID: id(1), familyID: id(2), page: page), NoBody(), page(points)),
        Sample(
            API.listBadges, UserInFamilyQuery(userID: id(1), familyID: id(2)), NoBody(),
            [BadgeResponse(id: id(10), userID: id(1), familyID: id(2), badgeType: .streak7, earnedAt: moment)]),
    ]

    // MARK: safety, consents

    private static let block = BlockResponse(id: id(11), actorID: id(1), targetID: id(4), state: .lifted)
    private static let consent = ConsentResponse(id: id(12), userID: id(1), familyID: nil, type: .smsOptIn)

    private static let constraints: JSONObject = [
        "daily_nag_cap": 5, "max_snooze_minutes": 60, "points_multiplier": 1.5, "max_pushback": 1,
        "pushback_cooldown_minutes": 90, "third_party_models": true, "mood": "quiet",
    ]
    private static let policy = PolicyResponse(
        id: id(8), familyID: id(2), owners: [id(1), id(4)], strategyTemplate: .friendlyReminder,
        constraints: constraints, status: "active", version: 2, etag: "e2",
        proposal: PolicyProposal(
            id: id(14), proposedBy: id(1), proposedAt: moment, owners: [id(1)], constraints: constraints,
            approvedBy: [id(1)]))
    private static let approval = ApprovalResponse(
        id: id(15), policyID: id(8), approverID: id(4), approvedAt: moment, comment: nil)
    private static let ofPolicy = PolicyPath(policyID: id(8))

    private static let rights = [
        Sample(API.listBlocks, page, NoBody(), page(block)),
        Sample(API.createBlock, NoParameters(), BlockCreate(targetID: id(4)), block),
        Sample(API.updateBlock, BlockPath(blockID: id(11)), BlockUpdate(state: .lifted), block),
        Sample(
            API.suspendRelationship, RelationshipPath(relationshipID: id(13)), NoBody(),
            RelationshipResponse(id: id(13), partyA: id(1), partyB: id(4), status: .suspended)),
        Sample(API.listConsents, ConsentListQuery(familyID: id(2), page: page), NoBody(), page(consent)),
        Sample(API.grantConsent, NoParameters(), ConsentCreate(familyID: id(2), type: .aiMediation), consent),
        Sample(API.listPolicies, PolicyListQuery(familyID: id(2), page: page), NoBody(), page(policy)),
        Sample(API.getPolicy, ofPolicy, NoBody(), policy),
        Sample(
            API.updatePolicy, ofPolicy,
            PolicyUpdate(strategyTemplate: .friendlyReminder, constraints: constraints, owners: [id(1), id(4)]), policy),
        Sample(API.approvePolicy, ofPolicy, ApprovalCreate(comment: "Good"), approval),
        Sample(API.listPolicyApprovals, .init(policyID: id(8), page: page), NoBody(), page(approval)),
        Sample(API.updateConsent, ConsentPath(consentID: id(12)), ConsentUpdate(isRevoked: true), consent),
    ]

    // MARK: reports, ai

    private static let figures = [
        Sample(
            API.getWeeklyReport, FamilyQuery(familyID: id(2)), NoBody(),
            WeeklyReportResponse(familyID: id(2), periodStart: moment, metrics: ["total_nags": 3])),
        Sample(
            API.getFamilyMetrics, FamilyMetricsQuery(familyID: id(2), fromDate: moment, toDate: moment), NoBody(),
            FamilyMetricsResponse(
                familyID: id(2), fromDate: moment, toDate: nil, totalNags: 4, completed: 3, missed: 1,
                completionRate: 0.75)),
        Sample(
            API.summarizeExcuse, NoParameters(), asking(ExcuseSummaryRequest(text: "The bus", nagID: id(3))),
            AIAnswer(ExcuseSummaryResponse(nagID: id(3), summary: "The bus", category: .timeConflict, confidence: 0.9))),
        Sample(
            API.selectTone, NoParameters(), asking(ToneSelectRequest(nagID: id(3))),
            AIAnswer(
                ToneSelectResponse(nagID: id(3), tone: .firm, missCount7d: 3, streak: 0, reason: "misses"),
                execution: execution)),
        Sample(
            API.coach, NoParameters(), asking(CoachingRequest(nagID: id(3))),
            AIAnswer(CoachingResponse(nagID: id(3), tip: "Try", category: "homework", scenario: "general"))),
        Sample(
            API.detectPatterns, asking(UserInFamilyQuery(userID: id(1), familyID: id(2))), NoBody(),
            AIAnswer(
                PatternsResponse(
                    userID: id(1), familyID: id(2), insights: [InsightItem(dayOfWeek: .monday, missCount: 4)],
                    analyzedAt: moment))),
        Sample(
            API.generateDigest, asking(FamilyQuery(familyID: id(2))), NoBody(),
            AIAnswer(
                DigestResponse(
                    familyID: id(2), periodStart: moment, periodEnd: moment, summaryText: "Well done.",
                    memberSummaries: [
                        MemberSummary(
                            userID: id(1), displayName: nil, totalNags: 1, completed: 1, missed: 0, completionRate: 1)
                    ],
                    totals: DigestTotals(totalNags: 1, completed: 1, missed: 0, open: 0, overdue: 0, completionRate: 1))
            )),
        Sample(
            API.predictCompletion, asking(NagQuery(nagID: id(3))), NoBody(),
            AIAnswer(
                PredictCompletionResponse(
                    nagID: id(3), likelihood: 0.65, suggestedReminderTime: moment,
                    factors: [CompletionFactor(name: "overall_rate", value: 0.5)]))),
        Sample(
            API.evaluatePushBack, NoParameters(), asking(PushBackRequest(nagID: id(3))),
            AIAnswer(PushBackResponse(nagID: id(3), shouldPushBack: false, message: nil, tone: nil, reason: "mode_off"))
        ),
        Sample(
            API.evaluatePushBack, NoParameters(), asking(PushBackRequest(nagID: id(3), wantsDraft: true)),
            AIAnswer(
                PushBackResponse(
                    nagID: id(3), shouldPushBack: true, message: "soon", tone: .firm, reason: "bounded_push_back"),
                execution: execution, draftID: id(50))),
        Sample(
            API.askCoach, NoParameters(), asking(CoachQuestionRequest(familyID: id(2), text: "What is due?")),
            AIAnswer(
                CoachAnswer(
                    familyID: id(2), answer: "Nothing.", topic: .due, citations: [id(3)], confidence: 0.9))),
    ]

    // MARK: sync, audit

    private static let feed = [
        Sample(
            API.syncEvents, SyncQuery(familyID: id(2), since: moment, cursor: "e.1", includesFacts: true), NoBody(),
            SyncResponse(
                nags: [
                    SyncedNag(
                        id: id(3), familyID: id(2), creatorID: id(1), recipientID: id(4), dueAt: moment,
                        category: "chores", doneDefinition: "ack_only", description: nil, status: "open",
                        createdAt: moment, committedAt: nil, opensAt: moment)
                ],
                nagEvents: [
                    SyncedNagEvent(
                        id: id(14), nagID: id(3), eventType: "nag_created", actorID: id(1), at: moment,
                        payload: ["b": "2", "a": "1"], source: "voice")
                ],
                aiMediationEvents: [
                    SyncedAIMediationEvent(
                        id: id(15), nagID: id(3), promptType: "push_back", tone: "firm", summary: "s", at: moment)
                ],
                gamificationEvents: [
                    SyncedGamificationEvent(
                        id: id(16), familyID: id(2), userID: id(1), eventType: "on_time", deltaPoints: 10,
                        streakDelta: 1, at: moment)
                ],
                connections: [
                    SyncedConnection(
                        id: id(17), inviterID: id(1), inviteeID: nil, inviteeEmail: "a@b.org", status: "pending",
                        caregiver: false, createdAt: moment, respondedAt: nil)
                ],
                serverTime: moment, cursor: "e.2", hasMore: false,
                deleted: [DeletedEntity(entity: "nags", id: id(18))], mustRefetch: false,
                facts: FamilyFacts(
                    timeZone: "Europe/Paris", maxPushBack: 2, cooldownMinutes: 60, allowsMediation: true,
                    members: [
                        MemberFacts(
                            userID: id(1), displayName: nil, role: .child, status: .active, timeZone: "Europe/Paris",
                            quietHours: .standard, pushBackMode: .bounded, allowsOnDeviceAI: true, streak: 3,
                            resolvedCounts: [ResolvedNags(category: .meds, total: 2, completed: 1)],
                            openNagPushBacks: [NagPushBacks(nagID: id(3), counted: [moment], earlier: nil)])
                    ], constraints: [ConstraintFacts(id: id(40), terms: constraintTerms)],
                    choices: AIChoices(mode: .auto, privacyLevel: .local, tokenThreshold: 256)), checkpoint: "c")),
        upload,
        Sample(
            API.listAuditEvents,
            AuditQuery(
                conditions: .init(
                    familyID: id(2), actorID: id(1), subjectID: id(4), personID: id(5), kind: "nag_created",
                    resourceID: id(3), traceID: id(19), q: "nag", from: moment, to: moment, withoutOwnReads: true),
                cursor: "c",
                limit: 20),
            NoBody(),
            AuditPage(
                items: [
                    AuditEntry(
                        familyID: id(2), n: 7, at: moment, kind: "nag_created", actor: id(20), subject: nil,
                        actorID: id(1), subjectID: nil, resourceID: id(3), traceID: id(19), requestID: id(21),
                        commit: digest(1), previous: digest(2), hash: digest(3), details: ["role": "guardian"])
                ], nextCursor: nil)),
    ]

    static func digest(_ byte: UInt8) -> HexDigest {
        read(String(repeating: "0\(byte)", count: 32))
    }

    // MARK: legal, metrics, operations

    private static let legal = LegalDocument(
        title: "Privacy", version: "1", effectiveDate: "2026-01-01", content: "Text")

    private static let plain = [
        Sample(API.getPrivacyPolicy, NoParameters(), NoBody(), legal),
        Sample(API.getTermsOfService, NoParameters(), NoBody(), legal),
        Sample(
            API.getMetrics, NoParameters(), NoBody(),
            MetricsResponse(metrics: [
                Metric(
                    key: "p99", label: "Latency", value: 3, unit: "ms", warnAbove: 50, warnBelow: nil,
                    sparklineHistory: [1.5, 3])
            ])),
        Sample(API.checkLiveness, NoParameters(), NoBody(), StatusAnswer(status: "ok")),
        Sample(
            API.checkReadiness, NoParameters(), NoBody(),
            ReadinessAnswer(
                status: "ok", auditLog: "late", auditState: "explained", auditCheckedAt: moment, auditCheckPercent: 40,
                auditFindings: 1, scheduler: "current")),
    ]
}
