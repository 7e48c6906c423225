import Domain
import Testing

@testable import Audit

@Suite struct ChainTests {
    private static let family = FamilyID(high: 1, low: 2)

    private static func chain(_ count: Int64) -> [(entry: AuditEntry, salt: [UInt8], body: [UInt8])] {
        var head = AuditEntry.genesisHash
        return (1...count).map { number in
            let salt = [UInt8](repeating: UInt8(number), count: 32)
            let body = AuditBody(["number": "\(number)", "who": "zoë"]).canonicalBytes
            let act = AuditEntry.Act(
                kind: "nag.created", actor: Pseudonym(high: 7, low: 8),
                subject: number == 2 ? nil : Pseudonym(high: 9, low: 9),
                resource: nil, trace: TraceID(high: 3, low: 3), request: RequestID(high: 4, low: 4),
                commitment: AuditBody.commitment(salt: salt, body: body))
            var entry = AuditEntry(
                family: family, number: number, at: Timestamp(seconds: number), act: act, previous: head, hash: [])
            entry.hash = entry.expectedHash
            head = entry.hash
            return (entry, salt, body)
        }
    }

    private static func verify(_ chain: [(entry: AuditEntry, salt: [UInt8], body: [UInt8])]) -> ChainVerifier.Fault? {
        var verifier = ChainVerifier(family: family)
        for link in chain {
            do throws(ChainVerifier.Fault) {
                try verifier.check(link.entry, payload: (link.salt, link.body))
            } catch {
                return error
            }
        }
        return nil
    }

    @Test func anUntouchedChainIsSound() {
        #expect(Self.verify(Self.chain(20)) == nil)
    }

    @Test func aDeletedEntryIsNamed() {
        var chain = Self.chain(5)
        chain.remove(at: 2)
        #expect(Self.verify(chain) == .outOfOrder(expected: 3, found: 4))
    }

    @Test func aSwapIsNamed() {
        var chain = Self.chain(5)
        chain.swapAt(1, 2)
        #expect(Self.verify(chain) == .outOfOrder(expected: 2, found: 3))
    }

    @Test func changedMetadataIsNamed() {
        var chain = Self.chain(5)
        chain[3].entry.act.kind = "nag.read"
        #expect(Self.verify(chain) == .alteredEntry(number: 4))
    }

    @Test func changedMetadataWithItsOwnHashRecomputedBreaksTheNextLink() {
        var chain = Self.chain(5)
        chain[3].entry.act.actor = Pseudonym(high: 0, low: 0)
        chain[3].entry.hash = chain[3].entry.expectedHash
        #expect(Self.verify(chain) == .brokenLink(number: 5))
    }

    @Test func aChangedBodyIsNamed() {
        var chain = Self.chain(5)
        chain[0].body = AuditBody(["number": "1", "who": "bob"]).canonicalBytes
        #expect(Self.verify(chain) == .alteredBody(number: 1))
    }

    @Test func anEntryMovedToAnotherFamilyIsNamed() {
        var chain = Self.chain(3)
        chain[1].entry.family = FamilyID(high: 5, low: 5)
        #expect(Self.verify(chain) == .foreignFamily(number: 2))
    }

    @Test func aBodyIsTheSameInWhateverOrderItIsTold() throws {
        let names = ["rule", "é", "a", "route", "ro", "Z", ""]
        let told = AuditBody(Dictionary(uniqueKeysWithValues: names.map { ($0, "of \($0)") }))
        #expect(told.dictionary.count == names.count && told["ro"] == "of ro" && told["none"] == nil)
        for turn in names.indices {
            var body: AuditBody = ["a": "an earlier value", "gone": "x"]
            body["gone"] = nil
            body["never there"] = nil
            for name in names[turn...] + names[..<turn] { body[name] = "of \(name)" }
            #expect(body == told && body.canonicalBytes == told.canonicalBytes)
        }
        let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let fields = try #require(CanonicalBytes.split(told.canonicalBytes))
        #expect(stride(from: 0, to: fields.count, by: 2).map { fields[$0] } == sorted.map { Array($0.utf8) })
        var merged: AuditBody = ["a": "1", "c": "3"]
        merged.merge(["b": "2", "c": "4"])
        #expect(merged == ["a": "1", "b": "2", "c": "4"])
    }

    @Test func bodiesReadBackAndNonCanonicalOnesAreRefused() {
        let body = AuditBody(["b": "", "a": "x\u{0}y", "é": "1"])
        #expect(AuditBody(canonical: body.canonicalBytes) == body)
        #expect(AuditBody(canonical: body.canonicalBytes.dropLast()) == nil)
        let twice: AuditBody = ["e\u{301}": "1", "é": "2"]
        #expect(AuditBody(canonical: twice.canonicalBytes) == nil)
        #expect(AuditBody(canonical: [0, 0, 0, 1, 98, 0, 0, 0, 0, 0, 0, 0, 1, 97, 0, 0, 0, 0]) == nil)
    }
}
