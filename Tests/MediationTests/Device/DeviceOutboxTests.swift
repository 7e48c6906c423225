import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("A device that was offline")
struct DeviceOutboxTests {
    @Test("offline acts arrive in order after reconnecting, and a conflict with another's act is reported")
    func roundTrip() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let home = try await server.family()
                let kept = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                let withdrawn = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                let device = try TestDevice(server, home.child, in: folder)
                try await device.sync()

                try device.act(.excuse(text: "I was busy", category: nil), on: kept)
                try device.act(.status(.completed, note: nil), on: kept)
                try device.act(.status(.completed, note: nil), on: withdrawn)
                #expect(try await device.heuristics().predictCompletion(nagID: kept).likelihood == 1)
                try await server.call(API.withdrawNag, NagPath(nagID: withdrawn), as: home.guardian)

                let summary = try await server.expectOnly(
                    audit: ["excuse.submitted", "nag.completed", "input.not_applied"],
                    events: ["excuse_submitted", "nag_completed"], scores: ["nag_completed"], stamped: 1
                ) { try await device.sync() }
                #expect(summary.uploadedCount == 3 && summary.unappliedResults.map(\.outcome) == [.conflict])
                let conflict = try #require(try device.outbox.unappliedItems().first)
                #expect(conflict.item.nagID == withdrawn && conflict.isConflict && conflict.message != nil)
                #expect(try device.outbox.totalWaitingCount() == 0)
                let nags = try device.cache.nags(of: home.id, includingClosed: true)
                #expect(Set(nags.map(\.status)) == ["completed", "withdrawn"])
                let again = try await server.expectOnly { try await device.sync() }
                #expect(again.uploadedCount == 0 && again.rowCount == 0)
            }
        }
    }

    @Test("an upload whose answer was lost gets the same answer again")
    func lostAnswer() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let home = try await server.family()
                let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                let device = try TestDevice(server, home.child, in: folder)
                try device.act(.note(text: "one"), on: nag)
                try device.act(.status(.completed, note: nil), on: nag)
                let upload = OutboxUpload(familyID: home.id, items: try device.outbox.waitingItems(of: home.id))
                let lost = try await device.client.upload(upload)
                let summary = try await server.expectOnly { try await device.sync() }
                #expect(summary.uploadedCount == 2 && summary.unappliedResults.isEmpty)
                #expect(try await device.client.upload(upload) == lost)
            }
        }
    }

    @Test("an excuse that the device summarized is sent without its words")
    func summary() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let home = try await server.family()
                let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                let device = try TestDevice(server, home.child, in: folder)
                try await device.sync()
                let words = "I forgot. " + String(repeating: "secretparrot ", count: 40)
                let clock = server.clock
                let local = LocalAIService(
                    facts: CacheFacts(device.cache, family: home.id, now: { clock.now() }),
                    heuristics: Heuristics(phrasebook: try Phrasebook.english()),
                    log: .silent(for: device.person.id))
                let category = try await local.summarizeExcuse(words, nagID: nag).category
                let sentence = local.excuseSentence(for: category, nagID: nag)
                try device.act(.excuse(text: sentence, category: category), on: nag)
                try await device.sync()
                let excuse = try await server.rows("SELECT text, summary, category FROM excuses")[0]
                #expect(excuse["text"] == .null && excuse["category"] == "forgot")
                #expect(excuse["summary"]?.stringValue == sentence && sentence.hasPrefix("It "))
                #expect(try await server.rows("SELECT 1 FROM excuses x WHERE x::text LIKE '%parrot%'").isEmpty)
            }
        }
    }
}
