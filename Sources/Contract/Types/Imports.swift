import Domain
import JSON

/// The ID of an imported item, such as the UID of a calendar event (RFC 5545 §3.8.4.7). UUIDs are in lower case.
public struct ImportItemID: Hashable, Sendable, WireText {
    /// The maximum length in Unicode scalars.
    public static let maxLength = 255

    public let wireText: String

    public init(_ id: InputID) { wireText = id.description }

    public init(wireText text: String) throws(InvalidInput) {
        guard !text.isEmpty else { throw .empty() }
        guard text.unicodeScalars.count <= Self.maxLength else {
            throw .tooMany("characters", max: Self.maxLength)
        }
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw .controlCharacters()
        }
        wireText = InputID(text)?.description ?? text
    }

    /// The ID as a UUID; nil if it is none.
    public var uuid: InputID? { InputID(wireText) }
}

extension NagImport {
    /// The allowed numbers of items of an import, and of drafts of a step.
    static let itemCounts = 1...100

    func check() throws(InvalidInput) { try items.checkCountAndIDs(\.itemID, "items") }
}

/// The outcome of an imported item.
public enum ImportOutcome: String, Sendable, CaseIterable, WireEnumeration {
    /// The item became a draft of this import; in a dry run, it would become one.
    case new
    /// An earlier import had the same item. Nothing was created.
    case alreadyImported = "already_imported"
    /// An earlier import had the item with other content. Its open draft was edited, or a draft proposes the new due
    /// time.
    case changed
    /// The item cannot be imported.
    case invalid
}

extension ImportResponse {
    /// The number of the drafts that can still be executed.
    public var openDrafts: Int { drafts.count { $0.progress.state.isOpen } }
}

// MARK: Steps with several drafts

extension ImportSelection {
    func check() throws(InvalidInput) { try drafts.checkCountAndIDs(\.draftID, "drafts") }
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
    /// Checks the size of a list, and that no ID occurs twice.
    /// - Throws: `InvalidInput` unless the list has 1 to 100 elements with distinct IDs.
    fileprivate func checkCountAndIDs<ID: Hashable>(
        _ id: (Element) -> ID, _ name: String
    ) throws(InvalidInput) {
        guard NagImport.itemCounts.contains(count) else {
            throw .wrongCount(NagImport.itemCounts, of: "elements", in: name)
        }
        guard Set(map(id)).count == count else { throw .repeated("id", in: name) }
    }
}
