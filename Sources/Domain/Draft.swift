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

/// A side effect of the execution of a draft. Whoever approves a draft names all of its side effects.
public enum DraftSideEffect: String, Sendable, CaseIterable {
    case createNag = "create_nag"
    case changeNag = "change_nag"
    case notifyRecipient = "notify_recipient"
    case giveIncentive = "give_incentive"
    case notifyGuardians = "notify_guardians"
}

/// The way in which the words of a request came to the device.
public enum DraftSource: String, Sendable, CaseIterable {
    case keyboard, camera, gallery, document, voice, shortcut
    /// The words were imported from another program, such as a calendar.
    case imported = "import"

    /// Whether a request that came this way may only create drafts, because nobody has looked at the words yet.
    public var onlyCreates: Bool { self == .voice || self == .shortcut }
}

public enum DraftState: String, Sendable, CaseIterable {
    case draft, approved, confirmed, executed, rejected, expired

    /// Whether the draft can still be executed after the steps that are missing.
    public var isOpen: Bool {
        switch self {
        case .draft, .approved, .confirmed: true
        case .executed, .rejected, .expired: false
        }
    }
}

public enum DraftStep: String, Sendable, CaseIterable { case edit, approve, confirm, execute, reject }

/// Limits of drafts.
public enum DraftLimit {
    /// The time for which a draft can be executed.
    public static let lifetime = Timestamp.Span.hours(24)
    /// The time for which a confirmation can be used.
    public static let keyLifetime = Timestamp.Span.seconds(60)
    /// The rows that a draft may be built from.
    public static let contextRows = 20
    /// Characters of a message to somebody.
    public static let message = 1...280
    /// Characters of a digest.
    public static let digest = 1...1000
    /// The people that a digest is sent to.
    public static let recipients = 1...8
    /// Characters of the words that a draft is made of.
    public static let text = 1...2000
}

/// The progress of a draft: it decides which step may be taken next. A pure value; steps are taken elsewhere.
public struct DraftProgress: Hashable, Sendable {
    /// The verdict on a step.
    public enum Verdict: Hashable, Sendable {
        case allowed
        /// It was done before and changes nothing now.
        case isDone
        /// Another step has to come first.
        case missing(DraftStep)
        /// The draft has ended.
        case ended(DraftState)
        /// The draft was edited since the version that the step names.
        case edited
    }

    /// The state as stored: an expired draft may not be marked yet.
    public var state: DraftState
    /// Grows with each edit.
    public var version: Int
    public var expiresAt: Timestamp
    /// The reason for which `expiresAt` was moved forward; nil where it was not.
    public var endReason: DraftEndReason?

    public init(
        state: DraftState = .draft, version: Int = 1, expiresAt: Timestamp, endReason: DraftEndReason? = nil
    ) {
        self.state = state
        self.version = version
        self.expiresAt = expiresAt
        self.endReason = endReason
    }

    /// The state at a moment. A draft can be executed up to and including `expiresAt`.
    public func state(at now: Timestamp) -> DraftState {
        state.isOpen && now > expiresAt ? .expired : state
    }

    /// - Parameter version: the version that the person has seen; nil if it does not matter.
    public func verdict(on step: DraftStep, of version: Int?, at now: Timestamp) -> Verdict {
        let state = state(at: now)
        switch (step, state) {
        case (.execute, .executed), (.reject, .rejected): return .isDone
        default: break
        }
        guard state.isOpen else { return .ended(state) }
        if let version, version != self.version { return .edited }
        switch (step, state) {
        case (.edit, _), (.reject, _): return .allowed
        case (.approve, .draft): return .allowed
        case (.approve, _): return .isDone
        case (.confirm, .draft), (.execute, .draft): return .missing(.approve)
        case (.confirm, _): return .allowed
        case (.execute, .approved): return .missing(.confirm)
        case (.execute, _): return .allowed
        }
    }
}

/// A reason for which a draft ended before its time.
public enum DraftEndReason: String, Sendable, CaseIterable {
    /// The consent `ai_mediation` is no longer in force for its author.
    case consentMissing = "consent_missing"
    /// Its author has switched off the AI, by the preference `ai_mode` or `ai_server_enabled`.
    case modeOff = "mode_off"
}

/// The key of a draft's confirmation: it allows one execution, by the person who asked for it.
public struct DraftKey: Hashable, Sendable {
    /// The digest of the secret, which only that person has.
    public var digest: [UInt8]
    public var owner: UserID
    public var expiresAt: Timestamp

    public init(digest: [UInt8], owner: UserID, expiresAt: Timestamp) {
        self.digest = digest
        self.owner = owner
        self.expiresAt = expiresAt
    }

    public func opens(_ digest: [UInt8], by person: UserID, at now: Timestamp) -> Bool {
        digest == self.digest && person == owner && now <= expiresAt
    }
}
