/// A JSON object: members in their original order, with unique names.
///
/// Names are equal only if their UTF-8 bytes are equal, as in other JSON implementations: a precomposed `é` and a
/// decomposed one are different names, although Swift treats the strings as equal.
public struct JSONObject: Sendable {
    /// A name and its value.
    public struct Member: Hashable, Sendable {
        public let key: String
        public fileprivate(set) var value: JSONValue
    }

    public private(set) var members: [Member] = []
    /// The index of each name; filled only for larger objects, where a linear search would cost more.
    private var indices: [ExactKey: Int] = [:]

    /// The number of members from which names are indexed.
    private static let indexThreshold = 16

    public init() {}

    public var count: Int { members.count }
    public var isEmpty: Bool { members.isEmpty }

    /// The member with that name. Setting replaces it in place or appends it; setting nil removes it.
    public subscript(key: String) -> JSONValue? {
        get { index(of: key).map { members[$0].value } }
        set {
            switch (index(of: key), newValue) {
            case (let index?, let value?): members[index].value = value
            case (nil, let value?): append(Member(key: key, value: value))
            case (let index?, nil):
                members.remove(at: index)
                indices.removeAll()
                buildIndexIfLarge()
            case (nil, nil): break
            }
        }
    }

    /// Appends a member; returns false, with no change, if the name exists.
    public mutating func insert(_ value: JSONValue, for key: String) -> Bool {
        guard index(of: key) == nil else { return false }
        append(Member(key: key, value: value))
        return true
    }

    private mutating func append(_ member: Member) {
        members.append(member)
        if indices.isEmpty {
            buildIndexIfLarge()
        } else {
            indices[ExactKey(member.key)] = members.count - 1
        }
    }

    private mutating func buildIndexIfLarge() {
        guard members.count >= Self.indexThreshold else { return }
        for (index, member) in members.enumerated() { indices[ExactKey(member.key)] = index }
    }

    private func index(of key: String) -> Int? {
        if !indices.isEmpty { return indices[ExactKey(key)] }
        return members.firstIndex { haveSameBytes($0.key, key) }
    }
}

extension JSONObject: Hashable {
    /// Objects are equal if they have the same members in any order.
    public static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        // A sum does not depend on the order.
        hasher.combine(members.reduce(0) { $0 &+ $1.hashValue })
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { self[key] = value }
    }
}

/// A name that is compared by its bytes.
private struct ExactKey: Hashable {
    private let text: String

    init(_ text: String) { self.text = text }

    static func == (left: Self, right: Self) -> Bool { haveSameBytes(left.text, right.text) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8.max)
    }
}

private func haveSameBytes(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
}
