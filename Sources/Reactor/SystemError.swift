import Glibc

/// A system call that failed: which one, and its error number.
public struct SystemError: Error, Hashable, CustomStringConvertible {
    public let call: String
    public let number: Int32

    public init(call: String, number: Int32) {
        self.call = call
        self.number = number
    }

    /// The error of the call that just returned -1.
    public static func last(_ call: String) -> SystemError { SystemError(call: call, number: errno) }

    public var description: String {
        "\(call): \(unsafe String(cString: strerror(number))) (\(number))"
    }
}
