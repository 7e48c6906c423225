import Testing

@Suite("Drafts have no way around")
struct DraftTests {
    /// What creates and changes nags, and writes notifications: by its name in the code.
    private static let effects = [
        "creation(of:", "Nags(services", "nags.", "DeliveryStatements.insert", "NagStatements.insert",
    ]

    @Test("what answers questions to the AI has no nag or notification made")
    func mediator() {
        for folder in ["AI", "Executions", "Constraints", "Keys"] {
            for file in SourceFile.all where file.path.hasPrefix("Server/Features/\(folder)/") {
                let code = file.code.joined(separator: "\n")
                for effect in Self.effects {
                    #expect(!code.contains(effect), "\(file.path) has \(effect)")
                }
            }
        }
    }

    @Test("drafts take effect in one place, which decides about the effects of other features")
    func effects() {
        let callers = SourceFile.all.filter { file in
            file.code.contains { line in
                ["nags.creation(", "nags.change(", "nags.sending(", "incentives.giving("].contains { line.contains($0) }
            }
        }
        #expect(callers.map(\.path) == ["Server/Features/Drafts/DraftEffects.swift"])
        let deciders = SourceFile.all.filter { file in file.code.contains { $0.contains("effects.decide(") } }
        #expect(deciders.map(\.path) == ["Server/Features/Drafts/Drafts+Steps.swift"])
    }
}
