import Domain
import JSON

/// Changes the caller's password.
public struct PasswordChange: Hashable, WireObject {
    /// The password until now.
    public var password: Secret
    public var newPassword: Secret

    public init(password: Secret, newPassword: Secret) {
        self.password = password
        self.newPassword = newPassword
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        password = try fields.secret("password", 1...Secret.passwordLengths.upperBound)
        newPassword = try fields.newPassword("new_password")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("password", password)
            json.field("new_password", newPassword)
        }
    }
}

/// Asks for another email address, which a code confirms.
public struct EmailChangeRequest: Hashable, WireObject {
    public var password: Secret
    /// The new address.
    public var email: EmailAddress

    public init(password: Secret, email: EmailAddress) {
        self.password = password
        self.email = email
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        password = try fields.secret("password", 1...Secret.passwordLengths.upperBound)
        email = try fields.required("email")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("password", password)
            json.field("email", email)
        }
    }
}

/// The code that was sent to the new email address.
public struct EmailChangeConfirmation: Hashable, WireObject {
    public var code: AccountCode

    public init(code: AccountCode) {
        self.code = code
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        code = try fields.required("code")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("code", code)
        }
    }
}

/// Asks for a code that sets a new password, sent to the account's address.
public struct PasswordResetRequest: Hashable, WireObject {
    public var email: EmailAddress

    public init(email: EmailAddress) {
        self.email = email
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        email = try fields.required("email")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("email", email)
        }
    }
}

/// Sets a new password with a code.
public struct PasswordReset: Hashable, WireObject {
    public var code: AccountCode
    public var newPassword: Secret

    public init(code: AccountCode, newPassword: Secret) {
        self.code = code
        self.newPassword = newPassword
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        code = try fields.required("code")
        newPassword = try fields.newPassword("new_password")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("code", code)
            json.field("new_password", newPassword)
        }
    }
}

/// A code of one use for a change of an account's sign-in: 20 letters and digits, in any case, with blanks and hyphens
/// as people like. Its description is hidden, so that it cannot reach a log.
public struct AccountCode: Hashable, Sendable, WireText, CustomStringConvertible {
    public static let length = 20

    /// The code in capital letters, without blanks and hyphens.
    public let wireText: String

    public init(wireText text: String) throws(InvalidInput) {
        let code = text.unicodeScalars.count <= 64 ? normalizedCode(text) : ""
        guard code.utf8.count == Self.length, code.utf8.allSatisfy(isLetterOrDigit) else {
            throw InvalidInput("must be a code of \(Self.length) letters and digits")
        }
        wireText = code
    }

    public var description: String { "AccountCode(hidden)" }
}
