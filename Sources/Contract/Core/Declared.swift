/// The bounds of a field: the value of their Swift expression, and the numbers in its declaration. A test compares
/// them.
public struct DeclaredBounds: Sendable {
    /// The path of the field, such as `ExcuseCreate.text`.
    public let place: String
    public let inSwift: ClosedRange<Int>
    public let declared: ClosedRange<Int>
}

/// The values of a Swift enumeration, and those in its declaration. A test compares them.
public struct DeclaredValues: Sendable {
    /// The enumeration's Swift name.
    public let name: String
    public let inSwift: Set<String>
    public let declared: Set<String>

    init<Values: CaseIterable & RawRepresentable>(of type: Values.Type, _ declared: Set<String>)
    where Values.RawValue == String {
        name = "\(type)"
        inSwift = Set(type.allCases.map(\.rawValue))
        self.declared = declared
    }
}
