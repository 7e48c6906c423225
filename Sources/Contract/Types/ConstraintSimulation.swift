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
            throw .wrongCount(Self.caseCountRange, of: "cases", in: "cases")
        }
        guard constraints?.count ?? 0 <= ConstraintDocument.maxConstraints else {
            throw .tooMany("constraints", max: ConstraintDocument.maxConstraints, in: "constraints")
        }
    }
}
