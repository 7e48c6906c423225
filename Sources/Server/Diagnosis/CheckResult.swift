/// The result of one check of `nagz doctor` or `nagz restore-check`.
public struct CheckResult: Sendable, Hashable {
    public enum Status: String, Sendable, CaseIterable {
        case ok
        /// The server runs, but an operator should know.
        case warning
        /// The service does not start or does not work, or must not be started.
        case failed
        /// The service is optional and not set up, so that there is nothing to check.
        case notConfigured = "not configured"
    }

    public let name: String
    public let status: Status
    /// The finding, in one line.
    public let text: String
    /// The advice, in one or more lines; nil where nothing has to be done.
    public let advice: String?

    private init(_ name: String, _ status: Status, _ text: String, advice: String?) {
        (self.name, self.status, self.text, self.advice) = (name, status, text, advice)
    }

    public static func ok(_ name: String, _ text: String) -> Self { Self(name, .ok, text, advice: nil) }

    public static func notConfigured(_ name: String, _ text: String) -> Self {
        Self(name, .notConfigured, text, advice: nil)
    }

    public static func warning(_ name: String, _ text: String, advice: String) -> Self {
        Self(name, .warning, text, advice: advice)
    }

    public static func failed(_ name: String, _ text: String, advice: String) -> Self {
        Self(name, .failed, text, advice: advice)
    }

    /// Creates a failure from one of the program's messages, which say what is wrong and, after a colon, what to do.
    /// - Parameter advice: the advice for a message without a colon.
    public static func failed(_ name: String, message: String, advice: String) -> Self {
        guard let colon = message.firstRange(of: ": ") else { return failed(name, message, advice: advice) }
        return failed(
            name, String(message[..<colon.lowerBound]), advice: String(message[colon.upperBound...]))
    }
}
