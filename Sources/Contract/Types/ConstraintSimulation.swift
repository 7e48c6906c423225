import Domain
import JSON
import NagzAI

extension SimulatedCase {
    public static let maxModelNameLength = 100
}

extension ConstraintSimulation {
    public static let caseCountRange = 1...1_000

    func check() throws(InvalidInput) {
        guard Self.caseCountRange.contains(cases.count) else {
            throw InvalidInput("must have 1 to \(Self.caseCountRange.upperBound) cases", field: "cases")
        }
        guard constraints?.count ?? 0 <= ConstraintDocument.maxConstraints else {
            throw InvalidInput(
                "must have at most \(ConstraintDocument.maxConstraints) constraints", field: "constraints")
        }
    }
}
