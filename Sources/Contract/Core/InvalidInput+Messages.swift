import JSON

/// The messages of invalid input that more than one type can have, and those of single fields: each is the end of a
/// sentence whose subject is the field. The parameter `field` is the field's name.
extension InvalidInput {
    // MARK: Presence

    static func required(_ field: String) -> InvalidInput { InvalidInput("is required", field: field) }
    static func givenTwice(_ field: String) -> InvalidInput { InvalidInput("is given more than once", field: field) }
    /// The error of an alias whose value differs from that of the field's own name.
    static func contradicts(_ name: String, _ alias: String) -> InvalidInput {
        InvalidInput("is another name of \(name), which has another value", field: alias)
    }

    // MARK: Counts and ranges

    static func empty(_ field: String? = nil) -> InvalidInput { InvalidInput("must not be empty", field: field) }
    static func tooShort(_ minimum: Int, _ field: String) -> InvalidInput {
        minimum == 1 ? .empty(field) : InvalidInput("must have at least \(minimum) characters", field: field)
    }
    /// - Parameter unit: what is counted, in the plural, such as `characters`.
    static func tooMany(_ unit: String, max maximum: Int, in field: String? = nil) -> InvalidInput {
        InvalidInput("must have at most \(maximum) \(unit)", field: field)
    }
    static func wrongCount(_ range: ClosedRange<Int>, of unit: String, in field: String) -> InvalidInput {
        InvalidInput("must have \(range.lowerBound) to \(range.upperBound) \(unit)", field: field)
    }
    /// - Parameter element: the name of what occurs twice in the list, in the singular, such as `id`.
    static func repeated(_ element: String, in field: String) -> InvalidInput {
        InvalidInput("must have each \(element) once", field: field)
    }
    static func outOfRange(_ range: ClosedRange<Int>, _ field: String) -> InvalidInput {
        InvalidInput("must be \(range.lowerBound) to \(range.upperBound)", field: field)
    }

    // MARK: Characters

    static func controlCharacters(in field: String? = nil) -> InvalidInput {
        InvalidInput("must not contain control characters", field: field)
    }
    static func invisibleCharacters(in field: String) -> InvalidInput {
        InvalidInput("must not contain invisible characters", field: field)
    }
    static let containsNUL = InvalidInput("must not contain the character U+0000")

    // MARK: Formats

    static func wrongType(_ expected: String, _ found: JSONValue) -> InvalidInput {
        InvalidInput("must be \(expected), not \(found.kindWithArticle)")
    }
    static func notOne(of values: [String]) -> InvalidInput {
        InvalidInput("must be one of " + values.joined(separator: ", "))
    }
    static func notInteger(_ field: String) -> InvalidInput { InvalidInput("must be an integer", field: field) }
    static let not64BitInteger = InvalidInput("must be an integer of at most 64 bits")
    static let notBoolean = InvalidInput("must be true or false")
    static let notUUID = InvalidInput("must be a UUID")
    static let notDateTime = InvalidInput("must be an RFC 3339 date-time with a zone, such as 2026-02-03T04:05:06Z")
    static let notTimeOfDay = InvalidInput("must be a time as HH:MM or HH:MM:SS")
    static let notDate = InvalidInput("must be a date such as 2014-05-06")
    static func tooEarly(firstYear year: Int) -> InvalidInput { InvalidInput("must not be before \(year)") }
    static let notDigest = InvalidInput("must be 64 hexadecimal digits")
    static let notEmailAddress = InvalidInput("must be written like name@example.com")
    static let notPhoneNumber = InvalidInput(
        "must have 8 to 15 digits after a + and begin with the code of a country: +493023125042")
    static let notPhoneCode = InvalidInput("must be six digits")
    static let notPIN = InvalidInput("must be four digits")
    static func notCode(length: Int) -> InvalidInput {
        InvalidInput("must be a code of \(length) letters and digits")
    }
    static let notAttachmentPath = InvalidInput("must be the path of an attachment")
    /// - Parameter version: the only version that is accepted.
    static func notVersion(_ version: Int, _ field: String) -> InvalidInput {
        InvalidInput("must be \(version)", field: field)
    }

    // MARK: Single fields

    static let subscriptionIsForBrowsers = InvalidInput("is for the platform web only", field: "subscription")
    static let confidenceIsOutOfRange = InvalidInput("must be 0 to 1", field: "confidence")
    static let keyIsNotVisibleASCII = InvalidInput("must consist of visible ASCII characters", field: "key")
    static func notInDraft(_ field: String) -> InvalidInput {
        InvalidInput("is not part of a draft of this kind", field: field)
    }
    static let revokedIsRequired = InvalidInput("is required: send true to revoke the consent", field: "revoked")
    static let statusCanOnlyBeRevoked = InvalidInput(
        "can only be revoked; a consent is given again with POST", field: "status")
    static let newNagHasID = InvalidInput("must be absent: the server chooses the id of a new nag", field: "nag_id")
    static let newNagHasFamily = InvalidInput(
        "must name no family and no connection: the upload names the family", field: "nag")
    static let modelReadsOnlySuggestions = InvalidInput(
        "asks for a model, which reads only the words of a suggested_nag", field: "task_type")
}
