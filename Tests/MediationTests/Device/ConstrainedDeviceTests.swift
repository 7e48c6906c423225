import ChildProcesses
import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import NagzAI
import Synchronization
import Testing

@testable import Server
@testable import ServerTestKit

/// Counts the requests of a device.
private final class CountingTransport: Transport {
    private let transport: HTTPTransport
    private let sent = Mutex(0)

    init(_ transport: HTTPTransport) { self.transport = transport }

    var count: Int { sent.withLock(\.self) }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        sent.withLock { $0 += 1 }
        return try await transport.send(request)
    }

    func listen(
        _ target: String, onOpen: @escaping @Sendable () -> Void, onMessage: @escaping @Sendable () -> Void
    ) async throws(TransportError) {
        sent.withLock { $0 += 1 }
        try await transport.listen(target, onOpen: onOpen, onMessage: onMessage)
    }
}

@Suite("Constraints on a device")
struct ConstrainedDeviceTests {
    private static let noPassports = [("content", "contains", "passport|social security")]

    private func local(_ device: TestDevice) throws -> LocalAIService {
        let clock = device.server.clock
        return LocalAIService(
            facts: CacheFacts(device.cache, family: device.family, now: { clock.now() }),
            heuristics: Heuristics(phrasebook: try Phrasebook.english()), log: .silent(for: device.person.id))
    }

    @Test("a guardian's constraint blocks the child's excuse after a sync, until it is deleted")
    func blocked() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let home = try await server.family()
                let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                let device = try TestDevice(server, home.child, in: folder)
                try await device.sync()
                let excuse = "I lost my PASSPORT"
                #expect(try await local(device).summarizeExcuse(excuse, nagID: nag).nagID == nag)
                let made = try await server.constraint(
                    .about("No papers", .family, 1, .block(reason: "no papers"), Self.noPassports), in: home
                ).constraint
                #expect(try await local(device).summarizeExcuse(excuse, nagID: nag).nagID == nag, "not synced yet")
                try await device.sync()
                await #expect(throws: QuestionRefusal.self) {
                    try await local(device).summarizeExcuse(excuse, nagID: nag)
                }
                #expect(try await local(device).summarizeExcuse("I forgot", nagID: nag).category == .forgot)
                // Switched off it is as if it was not there; deleted it is not.
                try await server.change(made.id, ConstraintUpdate(isEnabled: false), as: home.guardian)
                try await device.sync()
                #expect(try device.cache.constraints(of: home.id).isEmpty)
                try await server.change(made.id, ConstraintUpdate(isEnabled: true), as: home.guardian)
                try await device.sync()
                #expect(try device.cache.constraints(of: home.id).map(\.id) == [made.id])
                try await server.call(
                    API.deleteConstraint, ConstraintPath(constraintID: made.id), as: home.guardian)
                try await device.sync()
                #expect(try await local(device).summarizeExcuse(excuse, nagID: nag).nagID == nag)
            }
        }
    }

    @Test("a device gets the family's constraints and the person's own, and nobody else's")
    func facts() async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            var cursors: [PersonaKey: String] = [:]
            func names(_ person: TestPerson) async throws -> [String]? {
                let key = PersonaKey(person)
                let query = SyncQuery(familyID: home.id, cursor: cursors[key] ?? "start", includesFacts: true)
                let page = try await server.call(API.syncEvents, query, as: person)
                cursors[key] = page.cursor
                return page.facts?.constraints.map(\.terms.name)
            }
            #expect(try await names(home.child) == [])
            try await server.constraint("later", .family, 9, in: home)
            try await server.constraint("guardian's", .own, 1, in: home)
            try await server.constraint("child's", .own, 3, in: home, as: home.child)
            #expect(try await names(home.child) == ["child's", "later"])
            #expect(try await names(home.guardian) == ["guardian's", "later"])
            #expect(try await names(home.participant) == ["later"])
            #expect(try await names(home.child) == nil, "nothing has happened since")
            try await server.call(
                API.updatePreferences, FamilyQuery(familyID: home.id),
                PreferenceUpdate(preferences: ["ai_mode": "apple_only", "ai_privacy_level": "local"]), as: home.child)
            func choices(_ person: TestPerson) async throws -> AIChoices? {
                let query = SyncQuery(familyID: home.id, cursor: cursors[PersonaKey(person)], includesFacts: true)
                return try await server.call(API.syncEvents, query, as: person).facts?.choices
            }
            let chosen = AIChoices(mode: .onDeviceOnly, privacyLevel: .local, tokenThreshold: 4_096)
            #expect(try await choices(home.child) == chosen)
            #expect(try await choices(home.guardian) == .standard, "they are the child's own")
        }
    }

    private struct PersonaKey: Hashable {
        let id: UserID
        init(_ person: TestPerson) { id = person.id }
    }

    @Test("under force_local a device asks nothing of the server")
    func local() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let home = try await server.family()
                let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                let device = try TestDevice(server, home.guardian, in: folder)
                let session = try #require(try device.folder.sessionFile.load())
                let transport = CountingTransport(try HTTPTransport(session.server))
                let clock = server.clock
                let far = ServerAIService(
                    ServerClient(session, keptIn: device.folder.sessionFile, over: transport, now: { clock.now() }))
                func digest() async throws -> DigestResponse {
                    try await OnDeviceAIService(
                        local: try local(device), server: far, failure: { _ in nil },
                        stopwatch: { 0 }
                    ).digest(familyID: home.id)
                }
                try await device.sync()
                _ = try await digest()
                #expect(transport.count == 1, "the whole family is the server's to tell")
                try await server.constraint(
                    .about("Here", .family, 1, .forceLocal, [("token_count", "lessThan", "1000")]), in: home)
                try await device.sync()
                _ = try await digest()
                let service = OnDeviceAIService(
                    local: try local(device), server: far, failure: { _ in nil },
                    stopwatch: { 0 })
                _ = try await service.coaching(nagID: nag)
                _ = try await service.summarizeExcuse("I forgot", nagID: nag)
                await #expect(throws: LocalRefusal.mustBeRecorded) { try await service.pushBack(nagID: nag) }
                await #expect(throws: CacheMiss.nagUnknown) {
                    try await service.coaching(nagID: NagID(high: 1, low: 1))
                }
                #expect(transport.count == 1)
            }
        }
    }

    @Test("a confirmation that the server requires is asked for once, and answers the question")
    func confirmed() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let home = try await server.family()
                let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                let device = try TestDevice(server, home.guardian, in: folder)
                try await server.constraint(
                    .about("Sure", .family, 1, .requireConfirmation(prompt: "Is this needed?")), in: home)
                var asked: [String] = []
                let dialog = ConstraintDialog(warn: { _ in }) {
                    asked.append($0)
                    return .given
                }
                let far = ServerAIService(device.client, dialog: dialog)
                try await server.constraint(
                    .about(
                        "Sure", .family, 1, .requireConfirmation(prompt: "Is this needed?"),
                        [("token_count", "lessThan", "1000")]), in: home)
                _ = try await far.pushBack(nagID: nag)
                _ = try await far.digest(familyID: home.id)
                #expect(asked == ["Is this needed?", "Is this needed?"])
                let silent = ServerAIService(device.client)
                let refused = await #expect(throws: ClientError.self) { try await silent.digest(familyID: home.id) }
                guard case .refused(let refusal) = refused else {
                    Issue.record("not refused")
                    return
                }
                #expect(refusal.status == 409 && refusal.execution?.code == "E-POLICY-002")
            }
        }
    }

    @Test("device commands end with 77 for a block, and for a confirmation that nobody can give")
    func commands() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                server.clock.set(to: SystemClock().now())
                let home = try await server.family()
                let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                func run(_ arguments: String...) async throws -> (code: Int32?, output: String, errors: String) {
                    let process = try ChildProcess(
                        try #require(NagzProgram.url), ["device"] + arguments + ["--home", folder], in: repository)
                    try process.input.close()
                    let (output, errors) = (ChildProcess.text(process.output), ChildProcess.text(process.errors))
                    return (process.wait(), output, errors)
                }
                try await server.constraint(
                    .about("No papers", .family, 1, .block(reason: "no papers, please"), Self.noPassports), in: home)
                try await server.constraint(
                    .about(
                        "Sure", .family, 2, .requireConfirmation(prompt: "Is this needed?"),
                        [("content", "equals", "homework")]), in: home)
                try await server.constraint(
                    .about("Mind", .family, 3, .warn(message: "mind the dog"), [("content", "contains", "dog")]),
                    in: home)
                let device = try TestDevice(server, home.child, in: folder)
                try await device.sync()
                let name = nag.description
                #expect(try device.cache.constraints(of: home.id).map(\.name) == ["No papers", "Sure", "Mind"])
                let status = try await run("status").output
                #expect(status.contains("AI          mode heuristic, privacy level auto\n"))
                #expect(status.contains("constraint  Mind: If prompt contains \"dog\", then warn"))
                let blocked = try await run("excuse", name, "my passport is lost", "--offline")
                #expect(
                    blocked.code == 77 && blocked.errors.contains("E-POLICY-001")
                        && blocked.errors.contains("no papers, please"))
                let unconfirmed = try await run("excuse", name, "homework", "--offline")
                #expect(
                    unconfirmed.code == 77 && unconfirmed.errors.contains("E-POLICY-002")
                        && unconfirmed.errors.contains("Is this needed?"))
                #expect(try device.outbox.waitingItems(of: home.id).isEmpty, "what is refused is not kept")
                let warned = try await run("excuse", name, "the dog ate it", "--offline")
                #expect(warned.code == 0 && warned.errors.contains("warning: mind the dog"))
                #expect(try device.outbox.waitingItems(of: home.id).count == 1)
            }
        }
    }
}
