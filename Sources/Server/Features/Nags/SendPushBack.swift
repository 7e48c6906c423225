import Audit
import Contract
import Domain
import SQL

extension Nags {
    /// The act that tells a nag's recipient a push-back, in the feed and by a notification.
    ///
    /// The caller has asked the limits of push-backs, and adds the record that counts it.
    /// - Returns: the act and the event of the feed.
    func sending(
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
