import Contract
import Domain
import Foundation
import JSON
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Drafts that a model reads from words")
struct DraftModelTests {
    private static let words = "Cleo brings 2 library books back, the parrot ones"
    private static let due = "2026-03-12T07:30"

    /// How the service answers with these fields.
    private static func word(
        _ description: String = "Bring 2 library books back", recipient: String = "Cleo",
        due: String = DraftModelTests.due, category: String = "homework", definition: String = "ack_only"
    ) -> String {
        let fields = [
            "recipient": recipient, "category": category, "description": description, "due_local": due,
            "done_definition": definition,
        ]
        return String(decoding: (try? JSONEncoder().encode(fields)) ?? Data(), as: UTF8.self).said
    }

    @Test("draft and audit log have the model's fields and name; the model receives no name that was not said")
    func fields() async throws {
        try await ModelScene.run(Self.word()) { scene in
            let (server, home) = (scene.ai.server, scene.ai.home)
            for (type, author) in [(.localModel, "server_gateway"), (.cloudModel, "byo")] as [(TaskType, String)] {
                let draft = try await server.expectOnly(audit: ["draft.created"]) {
                    try await scene.draft(Self.words, type)
                }
                let nag = try #require(draft.suggestedNag)
                #expect(nag.recipientID == home.child.id && nag.category == .homework)
                #expect(nag.description == "Bring 2 library books back" && nag.doneDefinition == .acknowledgeOnly)
                // 7:30 in New York, daylight saving time.
                #expect(nag.dueAt == Timestamp(rfc3339: "2026-03-12T11:30:00Z"))
                #expect(draft.model == "\(author)/\(ModelScene.model)" && draft.confidence == 0.8)
                #expect(!draft.usedFallback && draft.fallbackReason == "none")
                #expect(try await server.draft(draft.id, as: home.guardian) == draft)
                let line = try #require(try await server.audit(home.id).last)
                #expect(line.details["model"] == draft.model && !"\(line)".contains("parrot"))
            }
            let questions = try await scene.questions().map { "\($0["body"] ?? .null)" }
            #expect(questions.count == 2 && questions.allSatisfy { $0.contains("parrot") && $0.contains("Cleo") })
            for row in try await server.rows("SELECT display_name FROM users WHERE display_name IS NOT NULL") {
                let name = try #require(row["display_name"]?.stringValue)
                #expect(name == "Cleo" || !questions.joined().contains(name), "\(name)")
            }
            #expect(!questions.joined().contains(home.child.id.description))
        }
    }

    @Test("words about a new due time are read by the rules, and go to no model")
    func dueChanges() async throws {
        try await ModelScene.run(Self.word()) { scene in
            let (server, home) = (scene.ai.server, scene.ai.home)
            let nag = try await server.nag(from: home.guardian, to: home.child)
            for mode in ["auto", "byo_only"] {
                try await scene.ai.prefer(#"{"ai_mode": "\#(mode)"}"#, home.guardian)
                let draft = try await server.call(
                    API.createDraft,
                    DraftCreate(familyID: home.id, kind: .dueChange, nagID: nag.id, text: "tomorrow at 5 pm"),
                    as: home.guardian)
                #expect(!draft.model.contains(ModelScene.model) && draft.kind == .dueChange, "\(mode)")
            }
            #expect(try await scene.questions().isEmpty)
        }
    }

    @Test("the history has the reading of words under the draft's trace, without the words")
    func history() async throws {
        try await ModelScene.run(Self.word()) { scene in
            let drafts = [
                "server_gateway": try await scene.draft(Self.words, .localModel),
                "heuristic": try await scene.draft(Self.words, nil),
            ]
            _ = try await scene.ai.constrain(.block(reason: "no"))
            await #expect(throws: APIError.self) { try await scene.draft(Self.words, nil) }
            let records = try await scene.ai.history(
                ExecutionFilter(familyID: scene.ai.home.id, operation: .intent))
            #expect(records.count == 3 && records.count { $0.errorCode == "E-POLICY-001" } == 1)
            for (provider, draft) in drafts {
                let record = try #require(records.first { $0.traceID == draft.traceID })
                #expect(record.execution.provider == provider && record.execution.sideEffects == ["draft"])
                #expect(record.execution.confidence == draft.confidence && record.errorCode == nil)
            }
            #expect(!"\(records)".contains("parrot"))
        }
    }

    @Test(
        "fields that cannot be right are replaced by the rules' draft, with the reason",
        arguments: [
            (word(recipient: "Zacharias"), "error"), (word(category: "war"), "error"),
            (word(definition: "never"), "error"), ("{\"recipient\": \"Cleo\"}".said, "error"), ("good", "error"),
            ("503", "error"), ("list-503", "unavailable"), ("list-without", "unavailable"),
            (word(due: "2026-03-01T07:30"), "output_rejected:due"), (word(due: "soon"), "output_rejected:due"),
            (word(due: "2026-02-30T07:30"), "output_rejected:due"),
            (word(due: "9999-03-01T07:30"), "output_rejected:due"),
            (word("Bring 3 library books back"), "output_rejected:number"),
            (word("Bring the books, lazy child"), "output_rejected:disrespect"),
            (word("See https://example.com"), "output_rejected:link"),
            (word("<b>Bring</b> the books"), "output_rejected:markup"),
            (word("Bring\u{200B} the books"), "output_rejected:control"), (word(""), "output_rejected:empty"),
            (word(String(repeating: "word ", count: 58)), "output_rejected:length"),
        ] as [(String, String)])
    func refusals(_ word: String, _ reason: String) async throws {
        try await ModelScene.run(word) { scene in
            let server = scene.ai.server
            let rules = try await scene.draft(Self.words, nil)
            #expect(rules.model == "heuristic" && rules.confidence == 0.3 && !rules.usedFallback)
            let draft = try await scene.draft(Self.words, .localModel)
            #expect(draft.body == rules.body && draft.model == "heuristic" && draft.confidence == 0.5)
            #expect(draft.usedFallback && draft.fallbackReason == reason)
            let line = try #require(try await server.audit(scene.ai.home.id).last)
            #expect(line.details["fallback_reason"] == reason)
            let asked = try await scene.questions().count
            #expect(asked == (word.hasPrefix("list-") ? 0 : 1))
            // Where it has to be a model, there is no draft.
            try await scene.ai.prefer(#"{"ai_mode": "auto", "ai_privacy_level": "cloud"}"#, scene.ai.home.guardian)
            let refused = try await refusal { try await scene.draft(Self.words, .localModel) }
            #expect(refused.execution != nil)
            #expect(try await server.rows("SELECT 1 FROM drafts").count == 2)
        }
    }

    @Test("words go to a model only where mode, constraints, role and policy all allow it")
    func matrix() async throws {
        try await ModelScene.run(Self.word()) { scene in
            var (expected, index): (Set<Int>, Int) = ([], 0)
            for allowsThirdParties in [true, false] {
                try await scene.allowThirdParties(allowsThirdParties)
                for action in [nil, "block", "confirm", "force_local", "force_cloud", "warn"] as [String?] {
                    var constraint: ConstraintID?
                    if let action = Self.constraint(action) { constraint = try await scene.ai.constrain(action) }
                    for mode in ["heuristic", "auto", "on_device_only", "local_only", "byo_only", "off"] {
                        for isGuardian in [true, false] {
                            let person = isGuardian ? scene.ai.home.guardian : scene.ai.home.child
                            try await scene.ai.prefer(#"{"ai_mode": "\#(mode)"}"#, person)
                            for isOwnKey in [true, false] where isOwnKey || allowsThirdParties {
                                index += 1
                                let ownKey = ["auto", "byo_only"].contains(mode) && isGuardian && allowsThirdParties
                                if !["block", "confirm", "force_local"].contains(action),
                                    isOwnKey ? ownKey : mode == "auto"
                                {
                                    expected.insert(index)
                                }
                                _ = try? await scene.draft(
                                    "Cleo, 2 books, number-\(index)-", isOwnKey ? .cloudModel : .localModel, as: person)
                            }
                        }
                    }
                    if let constraint {
                        _ = try await scene.ai.server.call(
                            API.deleteConstraint, ConstraintPath(constraintID: constraint), as: scene.ai.home.guardian)
                    }
                }
            }
            let came = try await scene.questions().map { "\($0["body"] ?? .null)" }
            for number in 1...index {
                let count = came.count { $0.contains("number-\(number)-") }
                #expect(count == (expected.contains(number) ? 1 : 0), "\(number)")
            }
            #expect(index == 216 && came.count == expected.count)
        }
    }

    private static func constraint(_ action: String?) -> ConstraintAction? {
        switch action {
        case "block": .block(reason: "no")
        case "confirm": .requireConfirmation(prompt: "Really?")
        case "force_local": .forceLocal
        case "force_cloud": .forceCloud
        case "warn": .warn(message: "Mind")
        default: nil
        }
    }

    @Test("no words go out without consent, from a stranger, about an unseen nag, or without a text")
    func gates() async throws {
        try await ModelScene.run(Self.word()) { scene in
            let (server, home) = (scene.ai.server, scene.ai.home)
            await #expect(throws: APIError.self) {
                try await scene.draft(Self.words, .localModel, as: home.stranger)
            }
            await #expect(throws: APIError.self) {
                try await scene.draft(Self.words, .localModel, as: home.removed)
            }
            let unseen = DraftCreate(
                familyID: home.id, kind: .suggestedNag, nagID: NagID(high: 9, low: 9), text: "t", taskType: .localModel)
            try await server.expect(.refusal(.notFound)) {
                try await server.call(API.createDraft, unseen, as: home.guardian)
            }
            try await server.expect(.refusal(.validationFailed, "text")) {
                try await server.call(
                    API.createDraft, DraftCreate(familyID: home.id, kind: .suggestedNag, taskType: .localModel),
                    as: home.guardian)
            }
            try await scene.ai.revokeConsent()
            await #expect(throws: APIError.self) { try await scene.draft(Self.words, .localModel) }
            #expect(try await scene.questions().isEmpty)
            #expect(try await server.rows("SELECT 1 FROM drafts").isEmpty)
        }
    }

    @Test("nothing is stored if the consent ends or a constraint begins while a model works")
    func revoked() async throws {
        try await ModelScene.run("hold-revoked-draft") { scene in
            let answer = try await scene.whileHeld(
                "revoked-draft", { try await scene.draft(Self.words, .localModel) }
            ) {
                try await scene.ai.revokeConsent()
            }
            #expect(throws: APIError.self) { try answer.get() }
            #expect(try await scene.ai.server.rows("SELECT 1 FROM drafts").isEmpty)
            #expect(try await scene.ai.server.audit(scene.ai.home.id).last?.kind == "ai_execution.refused")
        }
        try await ModelScene.run("hold-blocked-draft") { scene in
            let answer = try await scene.whileHeld(
                "blocked-draft", { try await scene.draft(Self.words, .localModel) }
            ) {
                _ = try await scene.ai.constrain(.block(reason: "no"))
            }
            #expect(throws: APIError.self) { try answer.get() }
            #expect(try await scene.ai.server.rows("SELECT 1 FROM drafts").isEmpty)
        }
    }

    @Test("a confirmation is required before words go out, and the same request twice requires it once")
    func confirmed() async throws {
        try await ModelScene.run(Self.word()) { scene in
            _ = try await scene.ai.constrain(.requireConfirmation(prompt: "Really?"))
            let rules = try await scene.draft(Self.words, nil)
            #expect(rules.warnings == ["Really?"])
            let fault = try await scene.ai.expectRefusal(.confirmationNeeded, 409) {
                try await scene.draft(Self.words, .localModel)
            }
            #expect(try await scene.questions().isEmpty)
            let token: Secret = try #require(fault.confirmation)
            // Of other words it is no confirmation.
            _ = try await scene.ai.expectRefusal(.confirmationInvalid, 409) {
                try await scene.draft("Cleo: something else", .localModel, token)
            }
            let statuses = try await together(6) { _ in
                do {
                    let draft = try await scene.draft(Self.words, .localModel, token)
                    return draft.usedFallback ? 0 : 201
                } catch let refusal as APIError {
                    return refusal.status
                }
            }
            #expect(statuses.count { $0 == 201 } == 1 && statuses.count { $0 == 409 } == 5)
            #expect(try await scene.questions().count == 1)
        }
        try await ModelScene.run(Self.word()) { scene in
            var drafts: [DraftResponse] = []
            for _ in 0..<2 {
                drafts.append(
                    try await scene.ai.server.call(
                        API.createDraft, NoParameters(), scene.order(Self.words, .localModel),
                        as: scene.ai.home.guardian, headers: ["Idempotency-Key": "one"]))
            }
            #expect(drafts[0] == drafts[1])
            #expect(try await scene.questions().count == 1)
        }
    }
}

extension ModelScene {
    func order(_ text: String, _ type: TaskType?, _ confirmation: Secret? = nil) -> DraftCreate {
        DraftCreate(
            familyID: ai.home.id, kind: .suggestedNag, text: text, taskType: type, confirmation: confirmation)
    }

    func draft(
        _ text: String, _ type: TaskType?, _ confirmation: Secret? = nil, as person: TestPerson? = nil
    ) async throws -> DraftResponse {
        try await ai.server.call(API.createDraft, order(text, type, confirmation), as: person ?? ai.home.guardian)
    }
}
