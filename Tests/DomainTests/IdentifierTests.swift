import Domain
import Testing

@Suite struct IdentifierTests {
    @Test func readsEitherCaseAndPrintsLower() {
        let id = NagID("00112233-4455-6677-8899-AABBCCDDEEFF")
        #expect(id?.description == "00112233-4455-6677-8899-aabbccddeeff")
        #expect(id?.bytes == (0..<16).map { UInt8($0 * 17) })
    }

    @Test(arguments: [
        "", "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeef",
        "00112233-4455-6677-8899-aabbccddeeff0", "g0112233-4455-6677-8899-aabbccddeeff",
        "{0112233-4455-6677-8899-aabbccddeef}",
    ])
    func refuses(_ text: String) {
        #expect(NagID(text) == nil)
    }
}
