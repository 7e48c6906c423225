import Audit
import CSodium
import Domain
import Testing

@Suite("Sealed bodies")
struct SealingTests {
    private static let person = Pseudonym(high: 1, low: 2)
    private static let nonce = [UInt8](repeating: 9, count: 24)
    private static func bytes(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    @Test("the sealing library is initialized before its first use")
    func initialized() { #expect(sodium_init() == 1) }

    @Test("a sealed body opens with its person's key and its entry's commitment, and with no other")
    func bound() {
        let key = SubjectKey(id: Self.person, secret: Self.bytes(1))
        let box = key.seal([1, 2, 3], commitment: Self.bytes(7), nonce: Self.nonce)
        #expect(key.open(box, commitment: Self.bytes(7)) == [1, 2, 3])
        #expect(key.open(box, commitment: Self.bytes(8)) == nil)
        #expect(SubjectKey(id: Self.person, secret: Self.bytes(2)).open(box, commitment: Self.bytes(7)) == nil)
        for index in box.indices {
            var bent = box
            bent[index] ^= 1
            #expect(key.open(bent, commitment: Self.bytes(7)) == nil)
        }
        #expect(key.open([], commitment: Self.bytes(7)) == nil)
    }

    @Test("a subject key is wrapped for one person by one master key")
    func wrapping() throws {
        let (master, other) = (try #require(MasterKey(Self.bytes(3))), try #require(MasterKey(Self.bytes(4))))
        let key = SubjectKey(id: Self.person, secret: Self.bytes(1))
        let wrapped = master.wrap(key, nonce: Self.nonce)
        #expect(master.unwrap(wrapped, id: Self.person) == key)
        #expect(master.unwrap(wrapped, id: Pseudonym(high: 1, low: 3)) == nil)
        #expect(other.unwrap(wrapped, id: Self.person) == nil)
        #expect(master.id != other.id && master.id.count == 4)
        #expect(MasterKey([1]) == nil)
    }
}
