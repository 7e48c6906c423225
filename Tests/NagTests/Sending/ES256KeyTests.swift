import Foundation
import Testing

@testable import Server

@Suite("Keys that sign with ES256")
struct ES256KeyTests {
    struct Curve: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The curve's object identifier in DER, without its type and length.
        let identifier: [UInt8]
        let isAccepted: Bool
    }

    static let curves = [
        Curve(testDescription: "P-256", identifier: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7], isAccepted: true),
        Curve(testDescription: "secp256k1", identifier: [0x2B, 0x81, 4, 0, 0x0A], isAccepted: false),
        Curve(testDescription: "brainpoolP256r1", identifier: [0x2B, 0x24, 3, 3, 2, 8, 1, 1, 7], isAccepted: false),
        Curve(testDescription: "P-384", identifier: [0x2B, 0x81, 4, 0, 0x22], isAccepted: false),
    ]

    @Test("a key of P-256 is accepted, one of another curve refused, also with 256 bits", arguments: curves)
    func curve(_ curve: Curve) {
        // The structure ECPrivateKey of RFC 5915: a version, the private key, and the curve.
        let parameters = [6, UInt8(curve.identifier.count)] + curve.identifier
        let content: [UInt8] =
            [2, 1, 1, 4, 32] + Array(repeating: 7, count: 32) + [0xA0, UInt8(parameters.count)] + parameters
        let base64 = Data([0x30, UInt8(content.count)] + content).base64EncodedString(options: .lineLength64Characters)
        let key = ES256Key(pem: "-----BEGIN EC PRIVATE KEY-----\n\(base64)\n-----END EC PRIVATE KEY-----\n")
        #expect((key != nil) == curve.isAccepted)
    }
}
