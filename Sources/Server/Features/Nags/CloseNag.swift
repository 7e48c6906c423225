import Audit
import Contract
import Domain

extension Nags {
    /// Withdraws an open nag, for its creator, or for a guardian of the family if the creator has left it. A child's
    /// guardians can also withdraw a nag of a connection to the child; then the creator is notified. The recipient is notified if they were notified of the nag. Repeating a
    /// withdrawal changes nothing.
    /// - Throws: 409 for a nag that has ended in another way.
    package func withdraw(_ caller: Caller, _ call: Call<NagPath, NoBody>) async throws -> NagResponse {
        try await decideAndPerform(caller, on: call.parameters.nagID, .withdraw) { view, _ in
            if view.nag.status == .withdrawn { return .answer(view.nag) }
            guard view.nag.status == .open else { throw APIError(.conflict, .nagNotOpen) }
            var nag = view.nag
            nag.status = .withdrawn
            let id: EventID = services.random.identifier(at: caller.now)
            return .perform(
                view.act(
                    .nagWithdrawn,
                    statements: [
                        NagStatements.markWithdrawn(nag.id, at: caller.now),
                        event(.withdrawn, view, at: caller.now, id: id),
                    ]
                        + notification(
                            of: id, on: nag, to: nag.recipientID, by: view.userID, onlyIfNotified: true, at: caller.now)
                        + (nag.creatorID == nag.recipientID || view.part.contains(.guardianAfterCreator)
                            ? [] : notification(of: id, on: nag, to: nag.creatorID, by: view.userID, at: caller.now))),
                nag)
        }
    }

    /// Marks a nag, whatever its status, as dismissed by its recipient. The recipient's daily digest omits it, and so
    /// do their lists if the query has `exclude_dismissed`.
    package func dismiss(_ caller: Caller, _ call: Call<NagPath, NoBody>) async throws -> NagResponse {
        try await setDismissed(true, caller, call)
    }

    /// Removes the mark that `dismiss` set.
    package func undismiss(_ caller: Caller, _ call: Call<NagPath, NoBody>) async throws -> NagResponse {
        try await setDismissed(false, caller, call)
    }

    private func setDismissed(
        _ isDismissed: Bool, _ caller: Caller, _ call: Call<NagPath, NoBody>
    ) async throws -> NagResponse {
        let input = provenance(at: caller.now)
        return try await decideAndPerform(caller, on: call.parameters.nagID, .dismiss) { view, queries in
            if (view.nag.recipientDismissedAt != nil) == isDismissed { return .answer(view.nag) }
            if let denial = try await denialOfChange(by: view, at: caller.now, queries) {
                return view.refuse(.dismiss, limit: denial, at: caller.now)
            }
            var nag = view.nag
            nag.recipientDismissedAt = isDismissed ? caller.now : nil
            return .perform(
                view.act(
                    isDismissed ? .nagDismissed : .nagUndismissed, details: input.auditDetails,
                    statements: [
                        NagStatements.setDismissed(nag.id, at: nag.recipientDismissedAt),
                        event(isDismissed ? .dismissed : .undismissed, view, at: caller.now, from: input),
                        input.insert(isDismissed ? .dismiss : .undismiss, by: view.userID, on: nag.id, at: caller.now),
                    ]),
                nag)
        }
    }
}
