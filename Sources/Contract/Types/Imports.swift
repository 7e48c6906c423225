import Domain
import JSON

/// The id of an imported item, such as the UID of a calendar's event (RFC 5545 §3.8.4.7). UUIDs are in lower case.
public struct ImportItemID: Hashable, Sendable, WireText {
    /// In Unicode scalars, as every length of a text.
    public static let longest = 255

    public let wireText: String

    public init(_ id: InputID) { wireText = id.description }

    public init(wireText text: String) throws(InvalidInput) {
        guard !text.isEmpty else { throw InvalidInput("must not be empty") }
        guard text.unicodeScalars.count <= Self.longest else {
            throw InvalidInput("must have at most \(Self.longest) characters")
        }
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw InvalidInput("must not contain control characters")
        }
        wireText = InputID(text)?.description ?? text
    }

    /// The id as it is, where it is a UUID.
    public var uuid: InputID? { InputID(wireText) }
}

extension NagImport {
    static let sizeRange = 1...100

    func check() throws(InvalidInput) { try items.requireDistinct(\.itemID, "items") }
}

/// The outcome of an imported item.
public enum ImportOutcome: String, Sendable, CaseIterable, WireEnumeration {
    /// It is a draft of this import; in a dry run, it would be.
    case new
    /// An earlier import had it. Nothing was made of it again.
    case alreadyImported = "already_imported"
    /// An earlier import had it otherwise. Its open draft was edited, or a draft proposes the new due time of its nag.
    case changed
    /// It cannot be imported.
    case invalid
}

extension ImportResponse {
    /// The number of the drafts that can still be executed.
    public var openDrafts: Int { drafts.count { $0.progress.state.isOpen } }
}

// MARK: Steps with several drafts

extension ImportSelection {
    func check() throws(InvalidInput) { try drafts.requireDistinct(\.draftID, "drafts") }
}

extension ImportApproval {
    public init(_ selection: ImportSelection, acknowledged: [DraftSideEffect]) {
        self.init(selection: selection, acknowledged: acknowledged)
    }

    func check() throws(InvalidInput) { try DraftApproval.check(acknowledged) }
}

extension ImportExecution {
    public init(_ selection: ImportSelection, confirmation: Secret?) {
        self.init(selection: selection, confirmation: confirmation)
    }
}

extension Array {
    /// - Throws: `InvalidInput` unless the list has 1 to 100 elements, each with an id of its own.
    fileprivate func requireDistinct<ID: Hashable>(
        _ id: (Element) -> ID, _ name: String
    ) throws(InvalidInput) {
        guard NagImport.sizeRange.contains(count) else {
            throw InvalidInput("must have 1 to \(NagImport.sizeRange.upperBound) elements", field: name)
        }
        guard Set(map(id)).count == count else { throw InvalidInput("must have each id once", field: name) }
    }
}
