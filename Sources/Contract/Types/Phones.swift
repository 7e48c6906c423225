import Domain
import JSON

/// Asks for a telephone number that text messages go to, which a code confirms.
public struct PhoneRequest: Hashable, WireObject {
    public var password: Secret
    public var phone: PhoneNumber

    public init(password: Secret, phone: PhoneNumber) {
        self.password = password
        self.phone = phone
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        password = try fields.secret("password", 1...Secret.passwordLengths.upperBound)
        phone = try fields.required("phone")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("password", password)
            json.field("phone", phone)
        }
    }
}

/// The code that was sent to the telephone number.
public struct PhoneConfirmation: Hashable, WireObject {
    public var code: PhoneCode

    public init(code: PhoneCode) {
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
