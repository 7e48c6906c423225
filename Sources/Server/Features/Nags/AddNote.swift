import Audit
import Contract
import Domain
import Postgres
import SQL

extension Nags {
    /// Adds a note that everybody who may read the nag can read, at most `NagLimit.notesPerDay` a day. It is refused if
    /// the author may not contact the creator or the recipient, or has dictated it and is not the recipient. The feed
    /// shows the text; the audit log records its length.
    func addNote(_ text: String, _ caller: Caller, to nag: NagID, as input: Provenance) async throws {
        let _: NagResponse = try await decideAndPerform(caller, on: nag, .addNote) { view, queries in
            try input.requireOutboxFamily(of: view.nag)
            if let denial = input.denialOfDictation(about: view.nag.recipientID, by: view.userID) {
                return view.refuse(.addNote, denial, .policyForbidden)
            }
            if let denial = try await denialOfContact(
                of: view, with: [view.nag.creatorID, view.nag.recipientID], queries)
            {
                return view.refuse(.addNote, denial, .policyForbidden)
            }
            let today = countedDay(of: view.record, at: caller.now)
            let count = try await queries.query(
                NagStatements.countNotes(by: view.userID, in: view.ledgerID, day: today)
            ).onlyRow()
            if let denial = NagLimit.denialOfNote(addedToday: try count["count"]) {
                return view.refuse(.addNote, limit: denial, at: caller.now)
            }
            var details: AuditBody = ["text_length": "\(text.unicodeScalars.count)"]
            details.merge(input.auditDetails)
            return .perform(
                view.act(
                    .nagNoteAdded, details: details,
                    statements: [
                        event(.noteAdded, view, at: caller.now, ["text": text], from: input),
                        input.insert(.note, by: view.userID, on: nag, at: caller.now),
                    ]),
                view.nag)
        }
    }
}
