import Domain
import JSON
import NagzAI

extension SimulatedCase {
    /// The maximum length of a model's name, in Unicode scalars.
    public static let maxModelNameLength = 100
}

extension ConstraintSimulation {
    public static let caseCountRange = 1...1_000

    /// Checks the numbers of cases and of constraints.
    func check() throws(InvalidInput) {
        guard Self.caseCountRange.contains(cases.count) else {
            throw .wrongCount(Self.caseCountRange, of: "cases", in: "cases")
        }
        guard constraints?.count ?? 0 <= ConstraintDocument.maxConstraints else {
            throw .tooMany("constraints", max: ConstraintDocument.maxConstraints, in: "constraints")
        }
    }
}
