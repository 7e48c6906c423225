import Audit
import Contract
import Domain
import SQL

extension StoredSource {
    /// Creates the stored source of a draft's content. No other code maps a draft's source.
    init(_ source: DraftSource) {
        self =
            switch source {
            // A shortcut sends words that somebody typed when they made it.
            case .keyboard, .shortcut: .text
            case .voice: .voice
            case .camera: .cameraText
            case .gallery: .galleryText
            case .document: .document
            case .imported: .legacy
            }
    }

    /// Creates the stored source of a device's input. No other code maps a device's source.
    init(_ source: InputSource) {
        self =
            switch source {
            case .keyboard: .text
            case .dictation: .voice
            case .camera: .cameraText
            case .gallery: .galleryText
            case .document: .document
            case .habit: .habit
            case .imported: .legacy
            case .onboarding: .onboarding
            }
    }
}

extension DraftSource {
    /// Creates the source of a draft that is made of an input, from the input's source. No other code does this.
    init(_ source: StoredSource) {
        self =
            switch source {
            case .text, .habit, .onboarding, .system: .keyboard
            case .voice: .voice
            case .cameraText: .camera
            case .galleryText: .gallery
            case .document: .document
            case .legacy: .imported
            }
    }
}

/// The kind of an input, as the database names it. A `status` completes a nag, a `nag` creates one, and a `promise`
/// sets, changes or clears the time for which the recipient promises to do the task.
enum InputKind: String, Sendable, CaseIterable {
    case status, excuse, note, nag, promise, snooze, dismiss, undismiss

    /// Creates the kind of an input; nil for an enrichment of another input.
    init?(_ act: InputAct.Kind) {
        switch act {
        case .status: self = .status
        case .excuse: self = .excuse
        case .note: self = .note
        case .nag: self = .nag
        case .classification, .summary, .relation, .merge: return nil
        }
    }
}

/// The origin of an input, and the ID of the feed event that the input becomes if it is applied.
///
/// It is created once for each input, so an act that is decided twice still writes one root event.
struct Provenance: Sendable {
    let id: InputID
    let event: EventID
    let source: StoredSource
    /// The device's confidence in the words, from 0 to 1; nil if the device does not say.
    let confidence: Double?
    /// The place in the client where the input was entered; nil if the client does not say.
    let context: SourceContext?
    /// The time of the input: for an outbox by the clock of its author's device, for a request by the server's.
    let madeAt: Timestamp
    /// The SHA-256 of the JSON that the server encodes the item in; nil for an input of a request.
    let fingerprint: [UInt8]?
    /// The family whose outbox contained the input; nil for an input of a request.
    let outboxFamily: FamilyID?

    /// Creates the provenance of an input of a request, with the device's details.
    init(_ capture: Capture, at now: Timestamp, event: EventID) {
        self.init(StoredSource(capture.source), capture.confidence, capture.context, at: now, event: event)
    }

    /// Creates the provenance of an input of a request whose words come from a draft.
    init(_ source: StoredSource, at now: Timestamp, event: EventID) {
        self.init(source, nil, nil, at: now, event: event)
    }

    private init(
        _ source: StoredSource, _ confidence: Double?, _ context: SourceContext?, at now: Timestamp, event: EventID
    ) {
        id = event.retyped()
        self.event = event
        self.source = source
        self.confidence = confidence
        self.context = context
        madeAt = now
        fingerprint = nil
        outboxFamily = nil
    }

    /// Creates the provenance of an input from a device's outbox.
    init(_ item: OutboxItem, of family: FamilyID, event: EventID) {
        id = item.clientID
        self.event = event
        source = StoredSource(item.capture.source)
        confidence = item.capture.confidence
        context = item.capture.context
        madeAt = item.madeAt.flooredToMillisecond
        fingerprint = sha256(item.jsonBytes)
        outboxFamily = family
    }

    /// Returns the reason for which the input may not take effect at once; nil when it may. Dictated words about
    /// another person may only become a draft.
    func denialOfDictation(about person: UserID, by user: UserID) -> Denial? {
        source == .voice && person != user ? .voiceOnlyDrafts : nil
    }

    /// The details of the input for the audit log.
    var auditDetails: AuditBody {
        var details: AuditBody = ["source": source.rawValue]
        if let confidence { details["source_confidence"] = "\(confidence)" }
        details["source_context"] = context?.rawValue
        return details
    }

    /// Requires that an input of an outbox is about a nag of the outbox's family, whose ledger stores the result.
    /// - Throws: 404 for another nag.
    func requireOutboxFamily(of nag: NagResponse) throws(APIError) {
        if let outboxFamily, outboxFamily != nag.familyID { throw APIError.noSuchNag }
    }

    /// Part of the act that applies the input: stores it. A second input with the same ID violates `inputs_pkey` and
    /// rolls the whole act back, so an input has one root event even under concurrency.
    func insert(_ kind: InputKind, by user: UserID, on nag: NagID, at now: Timestamp) -> SQL {
        IngestionStatements.insert(self, kind, by: user, on: nag, at: now, outcome: .applied, refusal: nil)
    }
}
