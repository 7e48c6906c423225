import Contract
import Domain
import Foundation
import Testing

@testable import Server

extension TestServer {
    /// Returns a page of the feed, which Foundation parses: without optimisation this project's parser is too slow for
    /// thousands of rows. Other tests check that parser with small pages.
    /// - Throws: the `APIError` with which the server refused the request.
    func page(_ query: SyncQuery, as person: TestPerson) async throws -> SyncResponse {
        let request = API.syncEvents.request(query, NoBody())
        let reply = try await call("GET", request.target, as: person, isDocumented: false)
        guard reply.status == 200 else {
            return try API.syncEvents.decode(status: reply.status, body: reply.body.span, retryAfter: nil)
        }
        guard
            let page = (try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any]).map(
                QuickObject.init)
        else { throw RawClient.Fault(what: "the feed is no object") }
        return try SyncResponse(
            nags: page.rows("nags").map {
                SyncedNag(
                    id: try $0.id("id"), familyID: try $0.id("family_id"), creatorID: try $0.id("creator_id"),
                    recipientID: try $0.id("recipient_id"), dueAt: try $0.moment("due_at"),
                    category: try $0.text("category"),
                    doneDefinition: try $0.text("done_definition"), description: try? $0.text("description"),
                    status: try $0.text("status"), createdAt: try $0.moment("created_at"),
                    committedAt: try? $0.moment("committed_at"))
            },
            nagEvents: page.rows("nag_events").map {
                SyncedNagEvent(
                    id: try $0.id("id"), nagID: try $0.id("nag_id"), eventType: try $0.text("event_type"),
                    actorID: try $0.id("actor_id"), at: try $0.moment("at"), payload: [:])
            },
            aiMediationEvents: page.rows("ai_mediation_events").map {
                SyncedAIMediationEvent(
                    id: try $0.id("id"), nagID: try $0.id("nag_id"), promptType: try $0.text("prompt_type"),
                    tone: try $0.text("tone"), summary: try $0.text("summary"), at: try $0.moment("at"))
            },
            gamificationEvents: page.rows("gamification_events").map {
                SyncedGamificationEvent(
                    id: try $0.id("id"), familyID: try $0.id("family_id"), userID: try $0.id("user_id"),
                    eventType: try $0.text("event_type"), deltaPoints: 0, streakDelta: 0, at: try $0.moment("at"))
            },
            serverTime: page.moment("server_time"), cursor: page.text("cursor"), hasMore: page.flag("has_more"),
            deleted: [],
            mustRefetch: page.flag("must_refetch"))
    }
}

/// A JSON object that Foundation parsed.
private struct QuickObject {
    let members: [String: Any]

    init(_ members: [String: Any]) { self.members = members }

    func text(_ name: String) throws -> String { try read(name) { $0 as? String } }
    func flag(_ name: String) throws -> Bool { try read(name) { $0 as? Bool } }
    func id<Kind>(_ name: String) throws -> Identifier<Kind> {
        try read(name) { ($0 as? String).flatMap { Identifier($0) } }
    }
    func moment(_ name: String) throws -> Timestamp {
        try read(name) { ($0 as? String).flatMap { Timestamp(rfc3339: $0) } }
    }
    func rows(_ name: String) throws -> [QuickObject] {
        try read(name) { ($0 as? [[String: Any]])?.map(QuickObject.init) }
    }

    private func read<Value>(_ name: String, _ convert: (Any) -> Value?) throws -> Value {
        guard let value = members[name].flatMap(convert) else { throw RawClient.Fault(what: "the feed's \(name)") }
        return value
    }
}
