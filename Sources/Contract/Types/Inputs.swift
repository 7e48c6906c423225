import Domain
import JSON

/// An act of a person on their device.
public enum InputAct: Hashable, Sendable {
    /// Reports a nag as completed, with an optional note. The server refuses every other status.
    case status(NagStatus, note: String?)
    /// Explains why a nag is not done. With a category, the text is the device's summary, and the original text stayed
    /// on the device.
    case excuse(text: String, category: ExcuseCategory?)
    /// Adds a note to a nag.
    case note(text: String)
    /// Sets the category of an earlier excuse of the same person, determined later on their device.
    case classification(of: InputID, category: ExcuseCategory)
    /// Adds a summary of an earlier input of the same person, made later on their device.
    case summary(of: InputID, text: String)
    /// Relates an earlier input of the same person to another input, which is given by its event in the feed.
    case relation(of: InputID, to: EventID)
    /// Marks an earlier input of the same person as a duplicate of another input, which is given by its event.
    /// Both inputs stay.
    case merge(of: InputID, into: EventID)
    /// Creates a nag in the upload's family. It names neither a family nor a connection of its own.
    case nag(NagCreate)

    /// The wire name.
    public var kind: Kind {
        switch self {
        case .status: .status
        case .excuse: .excuse
        case .note: .note
        case .classification: .classification
        case .summary: .summary
        case .relation: .relation
        case .merge: .merge
        case .nag: .nag
        }
    }

    /// The wire names of the acts.
    public enum Kind: String, Sendable, CaseIterable, WireEnumeration {
        case status, excuse, note, classification, summary, relation, merge, nag
    }
}

/// One input from a device's outbox.
public struct OutboxItem: Hashable, WireObject {
    /// The lengths of a summary, in Unicode scalars.
    public static let summaryLengths = 1...500

    /// The ID that the device has chosen. An item that is sent several times counts as one input.
    public var clientID: InputID
    /// The nag that the input is about; nil for a new nag, whose ID the server chooses.
    public var nagID: NagID?
    public var act: InputAct
    /// The time of the input by the device's clock.
    public var madeAt: Timestamp
    public var capture: Capture

    public init(
        clientID: InputID, nagID: NagID?, act: InputAct, madeAt: Timestamp, capture: Capture = .keyboard
    ) {
        self.clientID = clientID
        self.nagID = nagID
        self.act = act
        self.madeAt = madeAt
        self.capture = capture
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        clientID = try fields.required("client_id")
        madeAt = try fields.required("made_at")
        capture = try Capture(fields)
        let kind: InputAct.Kind = try fields.required("kind")
        nagID = kind == .nag ? try fields.optional("nag_id") : try fields.required("nag_id")
        if kind == .nag, nagID != nil {
            throw .newNagHasID
        }
        act =
            switch kind {
            case .status: .status(try fields.required("status"), note: try fields.optionalText("note", 0...2000))
            case .excuse:
                .excuse(text: try fields.text("text", 1...2000), category: try fields.optional("category"))
            case .note: .note(text: try fields.text("text", 1...2000))
            case .classification:
                .classification(of: try fields.required("of"), category: try fields.required("category"))
            case .summary:
                .summary(of: try fields.required("of"), text: try fields.text("text", Self.summaryLengths))
            case .relation: .relation(of: try fields.required("of"), to: try fields.required("to"))
            case .merge: .merge(of: try fields.required("of"), into: try fields.required("into"))
            case .nag: .nag(try fields.required("nag"))
            }
        if case .nag(let newNag) = act, newNag.familyID != nil || newNag.connectionID != nil {
            throw .newNagHasFamily
        }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("client_id", clientID)
            json.fieldIfPresent("nag_id", nagID)
            json.field("made_at", madeAt)
            // `Capture` omits the default, but an item's bytes identify it, and have always contained the source.
            if capture.source == .keyboard { json.field("source", capture.source) }
            capture.writeMembers(to: &json)
            json.field("kind", act.kind)
            switch act {
            case .status(let status, let note):
                json.field("status", status)
                json.fieldIfPresent("note", note)
            case .excuse(let text, let category):
                json.field("text", text)
                json.fieldIfPresent("category", category)
            case .note(let text):
                json.field("text", text)
            case .classification(let input, let category):
                json.field("of", input)
                json.field("category", category)
            case .summary(let input, let text):
                json.field("of", input)
                json.field("text", text)
            case .relation(let input, let other):
                json.field("of", input)
                json.field("to", other)
            case .merge(let input, let other):
                json.field("of", input)
                json.field("into", other)
            case .nag(let newNag):
                json.field("nag", newNag)
            }
        }
    }
}

extension OutboxUpload {
    /// The maximum number of items of an upload.
    public static let maxItemCount = 100

    /// Checks the number of items, and that no client ID occurs twice.
    func check() throws(InvalidInput) {
        guard (1...Self.maxItemCount).contains(items.count) else {
            throw .wrongCount(1...Self.maxItemCount, of: "elements", in: "items")
        }
        guard Set(items.map(\.clientID)).count == items.count else {
            throw .repeated("client ID", in: "items")
        }
    }
}

/// The outcome of an input.
public enum InputOutcome: String, Sendable, CaseIterable, WireEnumeration {
    case applied
    /// The nag already had the reported status, or a different input of the same kind was attached to the earlier input
    /// before.
    case alreadyDone = "already_done"
    /// The nag has ended differently in the meantime.
    case conflict
    /// The rules do not allow it.
    case refused
    /// The input became a draft that a person has to approve, because dictated words are about somebody else.
    case drafted
}

extension InputRefusal {
    /// Creates the refusal of one input among many from an error response.
    public init(_ error: APIError) {
        self.init(code: error.code, message: error.message, reason: error.reason, opensAt: error.opensAt)
    }
}
