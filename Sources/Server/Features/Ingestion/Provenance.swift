import Audit
import Contract
import Domain
import SQL

/// The origin of an input as the database stores it: a closed set that the schema checks.
enum StoredSource: String, Sendable, CaseIterable, SQLBindable {
    case text, voice
    case cameraText = "camera_ocr"
    case galleryText = "gallery_ocr"
    case document, habit, legacy, onboarding
    /// The system's own conclusions. No input of a person is ever stored with this source.
    case system

    /// The only mapping of the source of a draft, which a person approved before it took effect.
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

    /// The only mapping from a device's source to a stored one.
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

/// The origin of an input, and the one event of the feed that it becomes if it is applied.
///
/// Made once for each input, so that an act that is decided twice still has one root event.
struct Provenance: Sendable {
    let id: InputID
    let event: EventID
    let source: StoredSource
    /// By the clock of the input's maker.
    let madeAt: Timestamp
    /// SHA-256 of the item as it was sent; nil for an input of a request.
    let fingerprint: [UInt8]?
    /// The family whose outbox it came with; nil for an input of a request.
    let family: FamilyID?

    /// An input that a person typed and sent at once.
    init(typedAt now: Timestamp, event: EventID) {
        self.init(.text, at: now, event: event)
    }

    /// An input of a request that says how its words came about.
    init(_ source: StoredSource, at now: Timestamp, event: EventID) {
        id = event.retyped()
        self.event = event
        self.source = source
        madeAt = now
        fingerprint = nil
        family = nil
    }

    /// An input from a device's outbox.
    init(_ item: OutboxItem, of family: FamilyID, event: EventID) {
        id = item.clientID
        self.event = event
        source = StoredSource(item.source)
        madeAt = item.madeAt.flooredToMillisecond
        fingerprint = sha256(item.jsonBytes)
        self.family = family
    }

    /// - Throws: 404 for an input of an outbox about a nag that is not its family's: its result is in the family's ledger.
    func requireSameFamily(_ nag: NagResponse) throws(APIError) {
        if let family, family != nag.familyID { throw NagView.notFound }
    }

    /// Part of the act that applies the input. A second one with the same id violates `inputs_pkey`, which undoes the
    /// whole act: an input has one root event, also under concurrency.
    func root(_ kind: InputAct.Kind, by user: UserID, on nag: NagID, at now: Timestamp) -> SQL {
        IngestionStatements.insert(self, kind, by: user, on: nag, at: now, outcome: .applied, refusal: nil)
    }
}
