/// The kind of a draft, by its effect when it is executed.
public enum DraftKind: String, Sendable, CaseIterable {
    /// Creates a nag.
    case suggestedNag = "suggested_nag"
    /// Moves a nag's due time.
    case dueChange = "due_change"
    /// Sends a nag's recipient a message, within the limits of push-backs.
    case pushBack = "push_back"
    /// Gives the recipient of a completed nag the reward of an incentive rule.
    case consequence
    /// Sends chosen guardians a digest of the family's week.
    case digest

    /// The side effects in the order in which they are shown.
    public var sideEffects: [DraftSideEffect] {
        switch self {
        case .suggestedNag: [.createNag, .notifyRecipient]
        case .dueChange: [.changeNag]
        case .pushBack: [.notifyRecipient]
        case .consequence: [.giveIncentive]
        case .digest: [.notifyGuardians]
        }
    }

    /// Whether a draft of this kind is about a nag that exists.
    public var needsNag: Bool { self != .suggestedNag && self != .digest }
}

/// A side effect of the execution of a draft. The person who approves a draft names all of them.
public enum DraftSideEffect: String, Sendable, CaseIterable {
    case createNag = "create_nag"
    case changeNag = "change_nag"
    case notifyRecipient = "notify_recipient"
    case giveIncentive = "give_incentive"
    case notifyGuardians = "notify_guardians"
}

/// The source of the words of a request.
public enum DraftSource: String, Sendable, CaseIterable {
    /// `camera` and `gallery`: the words were read from a picture. `shortcut`: a shortcut of the operating system sent
    /// words that somebody typed when they made it.
    case keyboard, camera, gallery, document, voice, shortcut
    /// The words were imported from another program, such as a calendar.
    case imported = "import"

    /// Whether requests from this source may only create drafts, because nobody reads the words before they are sent.
    public var mayOnlyCreate: Bool { self == .voice || self == .shortcut }
}

/// The state of a draft. It is `draft` until a person approves it, and again after each edit. The other states are the
/// results of steps, except `expired`.
public enum DraftState: String, Sendable, CaseIterable {
    case draft, approved, confirmed, executed, rejected, expired

    /// Whether the draft can still be executed, possibly after other steps.
    public var isOpen: Bool {
        switch self {
        case .draft, .approved, .confirmed: true
        case .executed, .rejected, .expired: false
        }
    }
}

/// A step that a person takes with a draft. It has to be approved before it is confirmed, and confirmed before it is
/// executed.
public enum DraftStep: String, Sendable, CaseIterable { case edit, approve, confirm, execute, reject }

/// Limits of drafts.
public enum DraftLimit {
    /// The time after its creation for which a draft can be executed.
    public static let lifetime = Timestamp.Span.hours(24)
    /// The time for which a confirmation can be used.
    public static let confirmationKeyLifetime = Timestamp.Span.seconds(60)
    /// The maximum number of rows that a request for a draft may name in `context_ids`.
    public static let maxContextRows = 20
    /// The allowed lengths of a push-back's message, in Unicode scalars.
    public static let messageLengths = 1...280
    /// The allowed lengths of a digest, in Unicode scalars.
    public static let digestLengths = 1...1000
    /// The numbers of recipients that a digest may have.
    public static let digestRecipientCounts = 1...8
    /// The allowed lengths of the text from which a draft is made, in Unicode scalars.
    public static let sourceTextLengths = 1...2000
}

/// The progress of a draft. It decides which step may be taken next.
public struct DraftProgress: Hashable, Sendable {
    /// The verdict on a step.
    public enum Verdict: Hashable, Sendable {
        case allowed
        /// The step was taken before, and would change nothing now.
        case alreadyDone
        /// Another step has to be taken first.
        case missing(DraftStep)
        /// The draft has ended.
        case ended(DraftState)
        /// The draft was edited since the version that the step names.
        case edited
    }

    /// The stored state, which may still be open after the draft has expired.
    public var state: DraftState
    /// The version, which increases with each edit.
    public var version: Int
    public var expiresAt: Timestamp
    /// The reason why the draft expires early; nil if it does not.
    public var endReason: DraftEndReason?

    public init(
        state: DraftState = .draft, version: Int = 1, expiresAt: Timestamp, endReason: DraftEndReason? = nil
    ) {
        self.state = state
        self.version = version
        self.expiresAt = expiresAt
        self.endReason = endReason
    }

    /// Returns the state at a moment. A draft can be executed up to and including `expiresAt`.
    public func state(at now: Timestamp) -> DraftState {
        state.isOpen && now > expiresAt ? .expired : state
    }

    /// Returns whether a step may be taken now.
    /// - Parameter version: the version that the person has seen; nil if it does not matter.
    public func verdict(on step: DraftStep, of version: Int?, at now: Timestamp) -> Verdict {
        let state = state(at: now)
        switch (step, state) {
        case (.execute, .executed), (.reject, .rejected): return .alreadyDone
        default: break
        }
        guard state.isOpen else { return .ended(state) }
        if let version, version != self.version { return .edited }
        switch (step, state) {
        case (.edit, _), (.reject, _): return .allowed
        case (.approve, .draft): return .allowed
        case (.approve, _): return .alreadyDone
        case (.confirm, .draft), (.execute, .draft): return .missing(.approve)
        case (.confirm, _): return .allowed
        case (.execute, .approved): return .missing(.confirm)
        case (.execute, _): return .allowed
        }
    }
}

/// A reason why a draft ended before its time.
public enum DraftEndReason: String, Sendable, CaseIterable {
    /// Its author no longer has the consent `ai_mediation`.
    case consentMissing = "consent_missing"
    /// Its author has switched off the AI, by the preference `ai_mode` or `ai_server_enabled`.
    case modeOff = "mode_off"
}

/// The key of a draft's confirmation. It allows one execution, by the person who confirmed.
public struct ConfirmationKey: Hashable, Sendable {
    /// The digest of the secret, which only the owner has.
    public var digest: [UInt8]
    public var owner: UserID
    public var expiresAt: Timestamp

    public init(digest: [UInt8], owner: UserID, expiresAt: Timestamp) {
        self.digest = digest
        self.owner = owner
        self.expiresAt = expiresAt
    }

    /// Returns whether a person may use the key with this digest of the secret.
    public func allowsUse(of digest: [UInt8], by person: UserID, at now: Timestamp) -> Bool {
        digest == self.digest && person == owner && now <= expiresAt
    }
}
