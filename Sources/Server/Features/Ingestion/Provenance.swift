import Audit
import Contract
import Domain
import SQL

/// How a person's words are kept to have come about: the closed set that the database checks.
enum StoredSource: String, Sendable, CaseIterable, SQLBindable {
    case text, voice
    case cameraText = "camera_ocr"
    case galleryText = "gallery_ocr"
    case document, habit, legacy, onboarding
    /// Nobody's words: what the system does and infers. No input of a person is ever stored as this.
    case system

    /// The one mapping from what a device says to what is stored.
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

/// Where an input comes from, and the one event of the feed it becomes if it is applied.
///
/// Made once an input, so that an act that is decided twice still has one root event.
struct Provenance: Sendable {
    let id: InputID
    let event: EventID
    let source: StoredSource
    /// By the clock of who made it.
    let madeAt: Timestamp
    /// SHA-256 of what was sent; nil for an input that came by itself.
    let fingerprint: [UInt8]?

    /// Something typed and sent at once.
    init(typedAt now: Timestamp, event: EventID) {
        id = event.retyped()
        self.event = event
        source = .text
        madeAt = now
        fingerprint = nil
    }

    /// Something from a device's outbox.
    init(_ item: OutboxItem, event: EventID) {
        id = item.clientID
        self.event = event
        source = StoredSource(item.source)
        madeAt = item.madeAt.flooredToMillisecond
        fingerprint = sha256(item.jsonBytes)
    }

    /// The statement of the act that applies the input. A second one under its id breaks `inputs_pkey`, so that the whole act is
    /// undone: an input has one root, whatever runs beside it.
    func root(_ kind: InputAct.Kind, by user: UserID, on nag: NagID, at now: Timestamp) -> SQL {
        IngestionStatements.insert(self, kind, by: user, on: nag, at: now, outcome: .applied, refusal: nil)
    }
}
