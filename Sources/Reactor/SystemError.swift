import Glibc

/// A failed system call: its name and its error number.
public struct SystemError: Error, Hashable, CustomStringConvertible {
    public let call: String
    public let number: Int32

    public init(call: String, number: Int32) {
        self.call = call
        self.number = number
    }

    /// Returns the error of the call that just returned -1.
    public static func last(_ call: String) -> SystemError { SystemError(call: call, number: errno) }

    public var description: String {
        "\(call): \(unsafe String(cString: strerror(number))) (\(number))"
    }
}
