/// Bounds of a field that have a name in Swift, with the numbers that its declaration says.
public struct DeclaredBounds: Sendable {
    /// The record and the field, such as `ExcuseCreate.text`.
    public let place: String
    public let inSwift: ClosedRange<Int>
    public let declared: ClosedRange<Int>
}
