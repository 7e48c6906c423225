/// Bounds of a field that have a name in Swift, with the numbers that its declaration says.
public struct DeclaredBounds: Sendable {
    /// The record and the field, such as `ExcuseCreate.text`.
    public let place: String
    public let inSwift: ClosedRange<Int>
    public let declared: ClosedRange<Int>
}

/// The values of an enumeration of Swift, and those that its declaration has.
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
