import Audit
import Domain
import Testing

@Suite("Signed notes and checkpoints")
struct NoteTests {
    private static func key(_ byte: UInt8, _ name: String = "nagz.example/log") throws -> SigningKey {
        try #require(SigningKey(name: name, seed: [UInt8](repeating: byte, count: 32)))
    }

    @Test("a note that another implementation signed verifies")
    func knownNote() throws {
        let key = try #require(VerifierKey("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"))
        let text = """
            If you think cryptography is the answer to your problem,
            then you don't know what your problem is.

            — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=

            """
        let note = try #require(SignedNote(text))
        #expect(note.isSigned(by: key))
        #expect(note.fullText == text)
        #expect(key.text == "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
        let changed = try #require(SignedNote(text.replacing("don't", with: "do")))
        #expect(!changed.isSigned(by: key))
    }

    @Test("signing a note gives the bytes of the other implementation")
    func knownSignature() throws {
        let seed = try #require(Base64.decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")).dropFirst()
        let key = try #require(SigningKey(name: "PeterNeumann", seed: Array(seed)))
        let note = SignedNote(
            "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
            signedBy: [key])
        #expect(
            note.fullText.contains(
                "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="))
    }

    @Test(
        "a text that is no signed note is refused",
        arguments: [
            "", "x", "x\n", "x\n\n", "x\n\n— a b\n", "x\n\n— a AAAA\n", "x\n\n- a AAAAAAA=\n", "x\n\n— a+b AAAAAAA=\n",
            "\u{1}\n\n— a AAAAAAA=\n",
        ])
    func noNote(text: String) {
        #expect(SignedNote(text) == nil)
    }

    @Test("a verifier key whose hash is not its own is refused")
    func wrongKey() throws {
        let text = try Self.key(1).verifier.text
        #expect(VerifierKey(text) != nil)
        #expect(VerifierKey(text.replacing("nagz", with: "gzan")) == nil)
        #expect(VerifierKey("a b+00000000+AA==") == nil)
        #expect(SigningKey(name: "a+b", seed: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(SigningKey(name: "a", seed: [1]) == nil)
    }

    @Test("checkpoints read back, and nothing that only looks like one does")
    func checkpoints() throws {
        let checkpoint = Checkpoint(
            origin: "nagz.example/log", size: 12, root: MerkleHash.empty, time: Timestamp(seconds: 1_773_154_800))
        #expect(
            checkpoint.text == "nagz.example/log\n12\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\ntime 1773154800\n")
        #expect(Checkpoint(text: checkpoint.text) == checkpoint)
        for wrong in ["12\n", "+12\n", "012\n", "-1\n", "1e1\n", "99999999999999999999\n"] where wrong != "12\n" {
            #expect(Checkpoint(text: checkpoint.text.replacing("12\n", with: wrong)) == nil, "\(wrong)")
        }
        #expect(Checkpoint(text: checkpoint.text + "more\n") == nil)
        #expect(Checkpoint(text: checkpoint.text.replacing("time", with: "tide")) == nil)
    }

    @Test("trusted keys include those that they handed over to, and no other")
    func handover() throws {
        let (first, second, third, thief) = (try Self.key(1), try Self.key(2), try Self.key(3), try Self.key(9))
        let notes = [
            TrustedKeys.makeHandover(from: second, to: third.verifier),
            TrustedKeys.makeHandover(from: first, to: second.verifier),
            TrustedKeys.makeHandover(from: thief, to: thief.verifier),
        ]
        var trusted = TrustedKeys(pinned: [first.verifier])
        trusted.acceptHandovers(notes)
        #expect(trusted.keys == [first.verifier, second.verifier, third.verifier])
        let checkpoint = Checkpoint(
            origin: "nagz.example/log", size: 1, root: MerkleHash.empty, time: Timestamp(seconds: 5))
        #expect(trusted.checkpoint(in: checkpoint.signed(by: [third])) == checkpoint)
        #expect(trusted.checkpoint(in: checkpoint.signed(by: [thief])) == nil)
        // A trusted key of this log does not speak for another.
        let foreign = Checkpoint(origin: "other/log", size: 1, root: MerkleHash.empty, time: Timestamp(seconds: 5))
        #expect(trusted.checkpoint(in: foreign.signed(by: [third])) == nil)
        let named = try Self.key(4, "other/log")
        let isAccepted = trusted.acceptHandover(TrustedKeys.makeHandover(from: third, to: named.verifier))
        #expect(!isAccepted)
    }
}
