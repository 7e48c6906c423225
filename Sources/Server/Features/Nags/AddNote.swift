import Audit
import Contract
import Domain
import Postgres
import SQL

extension Nags {
    /// A few words on a nag, for everybody who sees it. They stand in the feed; the trail knows their length.
    func addNote(_ text: String, _ caller: Caller, to nag: NagID, as input: Provenance) async throws {
        let _: NagResponse = try await decide(caller, on: nag, .addNote) { view, _ in
            .perform(
                view.act(
                    "nag.note_added", details: ["text_length": "\(text.unicodeScalars.count)"],
                    rows: [
                        event(.noteAdded, view, at: caller.now, ["text": text], from: input),
                        input.root(.note, by: view.userID, on: nag, at: caller.now),
                    ]),
                view.nag)
        }
    }
}
