import Audit
import Contract
import Domain
import JSON

/// The terms of a policy: its owners, the limits that the server enforces, and other values that clients have stored.
struct PolicyTerms: Hashable {
    /// The owners in the order of their ids.
    var owners: [UserID]
    var limits: FamilyPolicy
    /// Scalars under names that the server does not know. They have no effect on the server.
    var clientValues: JSONObject

    init(owners: [UserID], limits: FamilyPolicy, clientValues: JSONObject) {
        self.owners = owners.sorted()
        self.limits = limits
        self.clientValues = clientValues
    }

    /// The limits and the client values in one object, as the API shows them.
    var constraints: JSONObject {
        var document = JSONObject()
        for field in PolicyViolation.Field.allCases { document[field.rawValue] = value(field) }
        for member in clientValues.members { document[member.key] = member.value }
        return document
    }

    private func value(_ field: PolicyViolation.Field) -> JSONValue {
        switch field {
        case .dailyNagCap: .integer(Int64(limits.dailyNagCap))
        case .maxSnoozeMinutes: .integer(Int64(limits.maxSnoozeMinutes))
        case .pointsMultiplier: .double(limits.pointsMultiplier)
        case .maxPushBacksPerNag: .integer(Int64(limits.maxPushBacksPerNag))
        case .pushBackCooldownMinutes: .integer(Int64(limits.pushBackCooldownMinutes))
        case .thirdPartyModels: .bool(limits.allowsThirdPartyModels)
        }
    }

    /// Returns whether these terms allow more than other terms do. Any change of a value that the server does not know
    /// counts as allowing more.
    func widens(_ other: PolicyTerms) -> Bool { limits.widens(other.limits) || clientValues != other.clientValues }

    /// The limits and `clientValuesDigest`, as the audit log records them.
    var auditValues: [String: String] { PolicyNote.values(of: limits, others: clientValuesDigest) }

    /// The SHA-256 digest of the client values and their names, in the order of the names; empty without any.
    var clientValuesDigest: String {
        if clientValues.isEmpty { return "" }
        var sorted = JSONObject()
        for member in clientValues.members.sorted(by: { $0.key < $1.key }) { sorted[member.key] = member.value }
        return hexadecimal(sha256(JSONValue.object(sorted).bytes))
    }
}

// MARK: Reading

extension PolicyTerms {
    /// The maximum number of client values in a policy.
    static let maxClientValues = 32
    /// The maximum number of Unicode scalars in the name of a client value.
    static let maxClientNameLength = 64
    /// The maximum number of Unicode scalars in a text that is a client value.
    static let maxClientTextLength = 256

    /// Creates terms from values that a client sent or the database stores, and validates the values.
    /// - Parameter constraints: values under the names of the API; missing limits get the standard values.
    /// - Throws: 422 `POLICY_INVALID_VALUE`, naming the field as `constraints.<name>`.
    init(owners: [UserID], constraints: JSONObject) throws(APIError) {
        var clientValues = JSONObject()
        for member in constraints.members where PolicyViolation.Field(rawValue: member.key) == nil {
            clientValues[member.key] = try Self.checkedClientValue(member.key, member.value)
        }
        guard clientValues.count <= Self.maxClientValues else {
            throw APIError.policyHasTooManyUnknownLimits(limit: Self.maxClientValues)
        }
        self.init(owners: owners, limits: try Self.limits(constraints), clientValues: clientValues)
    }

    private static func limits(_ constraints: JSONObject) throws(APIError) -> FamilyPolicy {
        do {
            return try FamilyPolicy(
                dailyNagCap: try integer(.dailyNagCap, constraints),
                maxSnoozeMinutes: try integer(.maxSnoozeMinutes, constraints),
                pointsMultiplier: try number(.pointsMultiplier, constraints),
                maxPushBacksPerNag: try integer(.maxPushBacksPerNag, constraints),
                pushBackCooldownMinutes: try integer(.pushBackCooldownMinutes, constraints),
                allowsThirdPartyModels: try bool(.thirdPartyModels, constraints))
        } catch let fault as PolicyViolation {
            throw APIError.policyLimitIsInvalid(fault)
        } catch let refusal as APIError {
            throw refusal
        } catch {
            throw APIError.policyIsUnreadable
        }
    }

    private static func integer(
        _ field: PolicyViolation.Field, _ constraints: JSONObject
    ) throws(APIError) -> Int? {
        guard let value = constraints[field.rawValue] else { return nil }
        guard let integer = value.integerValue.flatMap(Int.init(exactly:)) else {
            throw APIError.policyLimitIsInvalid(field.rawValue, "must be a whole number")
        }
        return integer
    }

    private static func number(
        _ field: PolicyViolation.Field, _ constraints: JSONObject
    ) throws(APIError) -> Double? {
        guard let value = constraints[field.rawValue] else { return nil }
        guard let number = value.doubleValue else {
            throw APIError.policyLimitIsInvalid(field.rawValue, "must be a number")
        }
        return number
    }

    private static func bool(
        _ field: PolicyViolation.Field, _ constraints: JSONObject
    ) throws(APIError) -> Bool? {
        guard let value = constraints[field.rawValue] else { return nil }
        guard case .bool(let isOn) = value else {
            throw APIError.policyLimitIsInvalid(field.rawValue, "must be true or false")
        }
        return isOn
    }

    /// Returns a client value in its stored form. Whole numbers become integers, so that a value still equals itself
    /// when it is read back.
    private static func checkedClientValue(_ name: String, _ value: JSONValue) throws(APIError) -> JSONValue {
        guard (1...maxClientNameLength).contains(name.unicodeScalars.count) else {
            throw APIError.policyLimitNameIsInvalid(limit: maxClientNameLength)
        }
        if let currentName = PolicyChange.formerNames[name] {
            throw APIError.policyLimitIsInvalid(name, "is called \(currentName)")
        }
        switch value {
        case .bool, .integer: return value
        case .double(let number):
            guard number.isFinite else { throw APIError.policyLimitIsInvalid(name, "must be a finite number") }
            return value.integerValue.map { .integer($0) } ?? value
        case .string(let text):
            guard text.unicodeScalars.count <= maxClientTextLength else {
                throw APIError.policyLimitIsInvalid(name, "must have at most \(maxClientTextLength) characters")
            }
            return value
        case .null, .array, .object:
            throw APIError.policyLimitIsInvalid(name, "must be a text, a number, true or false")
        }
    }
}
