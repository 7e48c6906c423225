import Audit
import Contract
import Domain
import SQL

extension Nags {
    /// Returns the act that sends the recipient of a nag the text of a push-back, in the feed and by a notification.
    ///
    /// The act's audit entry is `draftExecuted`, because push-backs are sent by drafts only. The caller MUST have
    /// checked the limits of push-backs, and MUST add the record that counts this one.
    /// - Returns: the act, and the ID of its event in the feed.
    func pushBackAct(
        _ message: String, on view: NagView, source: StoredSource, at now: Timestamp
    ) -> (act: Act, event: EventID) {
        let event: EventID = services.random.identifier(at: now)
        let statements =
            [self.event(.pushBackSent, view, at: now, ["message": message], source: source, id: event)]
            + notification(of: event, on: view.nag, to: view.nag.recipientID, by: view.userID, at: now)
        return (
            view.act(
                .draftExecuted, details: ["message_length": "\(message.unicodeScalars.count)"],
                statements: statements), event
        )
    }
}
