import Contract
import Domain
import Foundation
import Testing
import WebSocketProtocol

@testable import Server
@testable import ServerTestKit

/// The figures and lists of the API guide are those of the code.
@Suite("API guide")
struct GuideTests {
    private static let lines: [String] = {
        let file = repository.appending(path: "openapi/README.md")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }()

    /// Expects a row of a table that begins with `start` and has `text`.
    private func expectRow(_ start: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let row = Self.lines.first { $0.hasPrefix("| \(start)") }
        #expect(row?.contains(text) == true, "\(start): \(text)", sourceLocation: sourceLocation)
    }

    @Test("the API guide lists every error code with its status", arguments: ErrorCode.allCases)
    func errors(code: ErrorCode) { expectRow("`\(code.rawValue)` |", "| \(code.status)") }

    @Test("the API guide says how long tokens are valid")
    func tokens() {
        let (hour, day) = (Timestamp.Span.hours(1).microseconds, Timestamp.Span.days(1).microseconds)
        expectRow("access token |", "\(Tokens.accessLifetime.microseconds / hour) hours")
        expectRow("refresh token |", "\(Tokens.refreshLifetime.microseconds / day) days")
        let administrators = Sessions.administratorLifetime
        expectRow("refresh token |", "\(administrators.idleTimeout.microseconds * 60 / hour) minutes")
        expectRow("refresh token |", "\(administrators.maxLifetime.microseconds / hour) hours in all")
        let grace = "For \(Tokens.refreshGrace.microseconds / 1_000_000) seconds the same refresh token returns"
        #expect(Self.lines.joined(separator: " ").contains(grace))
    }

    @Test(
        "the API guide says how many requests a minute are allowed",
        arguments: [
            ("reads |", .read), ("reads below one nag", .nagDetail), ("writes |", .write),
            ("status changes, excuses", .frequentWrite), ("storing and checking keys", .thirdParty),
            ("sign-up and sign-in, of an address |", .auth), ("health, versions,", .exempt),
        ] as [(String, Contract.Operation.RateTier)])
    func rates(row: String, tier: Contract.Operation.RateTier) throws {
        let limit = RateLimiter.limitPerMinute(of: tier)
        expectRow(row, limit.map { "| \($0 < 1_000 ? "\($0)" : "\($0 / 1_000),\($0 % 1_000)") |" } ?? "| unlimited |")
    }

    @Test("the API guide has every daily limit", arguments: DailyLimit.allCases)
    func quotas(limit: DailyLimit) {
        let row =
            switch limit {
            case .accountExports: "exports of the account"
            case .emailChangeRequests, .phoneCodeRequests: "requests for another email address; codes for"
            case .familyCodeRenewals: "renewed family codes"
            case .deviceRegistrations, .policyChanges, .incentiveRuleChanges, .aiKeysStored: "registered devices;"
            case .attachments, .blockChanges: "pictures; changes of blocks"
            case .aiSessions, .constraintChanges, .preferenceChanges: "changes of preferences, with"
            case .draftSteps: "steps with drafts"
            }
        expectRow(row, "| \(limit.perDay)")
    }

    @Test("the API guide names every event of a WebSocket, and the codes with which one is closed")
    func realtime() {
        for kind in EventKind.allCases {
            #expect(Self.lines.contains { $0.hasPrefix("| `") && $0.contains("`\(kind.rawValue)`") }, "\(kind)")
        }
        expectRow("\(LoopSockets.notEntitled.rawValue) |", "session or membership")
        expectRow("\(LoopSockets.unavailable.rawValue) |", "limit")
    }
}
