import Domain
import JSON
import NagzAI

extension AIKeyUpdate {
    /// Checks that the provider's API key has visible ASCII characters only.
    func check() throws(InvalidInput) {
        // The key is sent as a header field.
        guard key.wireText.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .keyIsNotVisibleASCII
        }
    }
}

extension AIKeyCheck {
    public init(_ availability: Availability) {
        switch availability {
        case .available: (isAvailable, reason) = (true, nil)
        case .unavailable(let reason): (isAvailable, self.reason) = (false, reason.rawValue)
        }
    }
}
