import Domain
import JSON

/// How a person's words came to be on their device.
public enum InputSource: String, Sendable, CaseIterable, WireEnumeration {
    case keyboard, dictation, camera, gallery, document, habit, onboarding
    /// Carried over from another program.
    case imported = "import"
}

/// What a person did on their device.
public enum InputAct: Hashable, Sendable {
    /// Reports a nag's status; the note is part of the report.
    case status(NagStatus, note: String?)
    /// Says why a nag is not done. With a category the text is the device's own summary, and the words stayed there.
    case excuse(text: String, category: ExcuseCategory?)
    /// Adds some words to a nag.
    case note(text: String)
    /// Says what kind of reason an earlier input of the same person gives, found out on their device since.
    case classification(of: InputID, category: ExcuseCategory)

    /// Its name on the wire.
    public var kind: Kind {
        switch self {
        case .status: .status
        case .excuse: .excuse
        case .note: .note
        case .classification: .classification
        }
    }

    /// The acts by name.
    public enum Kind: String, Sendable, CaseIterable, WireEnumeration {
        case status, excuse, note, classification
    }
}

/// One input from a device's outbox: what was done about which nag, when, and how the words came about.
public struct OutboxItem: Hashable, WireObject {
    /// Made by the device; the same id is the same input, however often it is sent.
    public var clientID: InputID
    public var nagID: NagID
    public var act: InputAct
    /// By the device's clock.
    public var madeAt: Timestamp
    public var source: InputSource

    public init(
        clientID: InputID, nagID: NagID, act: InputAct, madeAt: Timestamp, source: InputSource = .keyboard
    ) {
        self.clientID = clientID
        self.nagID = nagID
        self.act = act
        self.madeAt = madeAt
        self.source = source
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        clientID = try fields.required("client_id")
        nagID = try fields.required("nag_id")
        madeAt = try fields.required("made_at")
        source = try fields.defaulted("source", to: .keyboard)
        let kind: InputAct.Kind = try fields.required("kind")
        act =
            switch kind {
            case .status: .status(try fields.required("status"), note: try fields.optionalText("note", 0...2000))
            case .excuse:
                .excuse(text: try fields.text("text", 1...2000), category: try fields.optional("category"))
            case .note: .note(text: try fields.text("text", 1...2000))
            case .classification:
                .classification(of: try fields.required("of"), category: try fields.required("category"))
            }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("client_id", clientID)
            json.field("nag_id", nagID)
            json.field("made_at", madeAt)
            json.field("source", source)
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
            }
        }
    }
}

/// What a device did while it was offline, in the order in which it was done.
public struct OutboxUpload: Hashable, WireObject {
    public var familyID: FamilyID
    /// 1…100, each under an id of its own.
    public var items: [OutboxItem]

    public static let largestCount = 100

    public init(familyID: FamilyID, items: [OutboxItem]) {
        self.familyID = familyID
        self.items = items
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        items = try fields.required("items")
        guard (1...Self.largestCount).contains(items.count) else {
            throw InvalidInput("must have 1 to \(Self.largestCount) elements", field: "items")
        }
        guard Set(items.map(\.clientID)).count == items.count else {
            throw InvalidInput("must not use a client_id twice", field: "items")
        }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("items", items)
        }
    }
}

/// What became of an input.
public enum InputOutcome: String, Sendable, CaseIterable, WireEnumeration {
    case applied
    /// What it reports was so already.
    case alreadyDone = "already_done"
    /// The nag has come to another end meanwhile.
    case conflict
    /// The rules do not allow it.
    case refused
}

/// The answer to one input. Sending the input again gives it again.
public struct InputResult: Hashable, WireObject {
    public var clientID: InputID
    public var outcome: InputOutcome
    /// The one event of the feed that the input became, or hangs on; nil unless it was applied.
    public var eventID: EventID?
    /// Why it was not applied.
    public var error: InputRefusal?

    public init(clientID: InputID, outcome: InputOutcome, eventID: EventID?, error: InputRefusal?) {
        self.clientID = clientID
        self.outcome = outcome
        self.eventID = eventID
        self.error = error
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        clientID = try fields.required("client_id")
        outcome = try fields.required("outcome")
        eventID = try fields.optional("event_id")
        error = try fields.optional("error")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("client_id", clientID)
            json.field("outcome", outcome)
            json.field("event_id", eventID)
            json.field("error", error)
        }
    }
}

/// Why an input was not applied, in the terms of the error envelope.
public struct InputRefusal: Hashable, WireObject {
    public var code: ErrorCode
    /// For a person to read.
    public var message: String

    public init(code: ErrorCode, message: String) {
        self.code = code
        self.message = message
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        code = try fields.required("code")
        message = try fields.required("message")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("code", code)
            json.field("message", message)
        }
    }
}

/// The answers to an upload, in its order.
public struct OutboxAnswer: Hashable, WireObject {
    public var results: [InputResult]

    public init(results: [InputResult]) { self.results = results }

    public init(_ fields: FieldReader) throws(InvalidInput) { results = try fields.required("results") }

    public func write(to json: inout JSONWriter) {
        json.object { $0.field("results", results) }
    }
}
