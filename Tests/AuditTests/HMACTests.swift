import Audit
import Testing

@Suite("HMAC-SHA-256")
struct HMACTests {
    /// Of RFC 4231, cases 1, 2 and 6, and of nothing at all.
    @Test(
        "HMAC-SHA-256 gives the codes of the published examples",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        ])
    func examples(key: [UInt8], message: String, code: String) {
        let prepared = HMACKey(key)
        #expect(hexadecimal(prepared.authenticationCode(of: Array(message.utf8))) == code)
        // The prepared key is as it was.
        #expect(prepared.authenticationCode(of: [1]) != prepared.authenticationCode(of: [2]))
        #expect(hexadecimal(prepared.authenticationCode(of: Array(message.utf8))) == code)
        #expect(hexadecimal(hmacSHA256(Array(message.utf8), key: key)) == code)
    }
}
