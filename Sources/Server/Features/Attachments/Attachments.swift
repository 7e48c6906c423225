import Audit
import Contract
import Domain
import Pictures
import Postgres

/// Pictures of nags: uploaded first, then named by the nag that uses them.
///
/// A picture is read by whoever may read its nag and by its uploader; for everybody else it does not exist.
package final class Attachments {
    let services: Services
    /// The limiter of concurrent uploads: each one uses a database session until its bytes are sent.
    let uploadLimiter: KeyedLimiter<UserID>

    package init(_ services: Services) {
        self.services = services
        uploadLimiter = KeyedLimiter(services.database.poller, limit: 4, limitPerKey: 1, queueLimit: 64)
    }

    /// Registers the operations of the tag `attachments`.
    func register(in routes: RouteTable) {
        routes.signedInResponding(API.createAttachment, create)
        routes.signedInResponding(API.getAttachment, get)
    }

    // MARK: For nags

    /// Requires that a nag of the caller may use the uploads.
    /// - Throws: 422 unless the caller uploaded all of these within the last day, and no nag uses any of them.
    func requireUsable(_ attachments: [AttachmentID], by caller: Caller, _ queries: any Queries) async throws {
        if attachments.isEmpty { return }
        let usable = try await queries.query(
            AttachmentStatements.countUsable(attachments, of: caller.userID, at: caller.now)
        ).onlyRow()
        guard try usable["count"] == attachments.count else { throw APIError.picturesAreNotUsable }
    }

    /// Runs an act that uses uploads. An upload that is concurrently used by another nag or deleted causes
    /// the same error as one that was used or deleted before.
    func mappingAttachmentConflict<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        do {
            return try await body()
        } catch let error as PostgresError
            where error.violates(.oneNagPerAttachment) || error.violates(.attachmentExists)
        {
            throw APIError.picturesAreNotUsable
        }
    }
}
