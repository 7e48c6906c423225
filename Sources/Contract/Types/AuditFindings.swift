import Domain
import JSON

extension FindingAcknowledgement {
    public static let lengths = 1...500
}
