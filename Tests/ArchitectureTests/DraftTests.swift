import Testing

@Suite("Drafts as the only way to an effect")
struct DraftTests {
    /// What creates and changes nags, and writes notifications: by its name in the code.
    private static let effects = [
        "decideCreation(", "creationAct(", "Nags(services", "nags.", "DeliveryStatements.insert",
        "NagStatements.insert",
    ]

    @Test("code that answers questions to the AI calls nothing that makes a nag or a notification")
    func mediator() {
        for effect in Self.effects {
            #expect(SourceFile.all.contains { $0.code.joined().contains(effect) }, "nothing is named \(effect)")
        }
        for folder in ["AI", "Executions", "Constraints", "Keys"] {
            for file in SourceFile.all where file.path.hasPrefix("Server/Features/\(folder)/") {
                let code = file.code.joined(separator: "\n")
                for effect in Self.effects {
                    #expect(!code.contains(effect), "\(file.path) has \(effect)")
                }
            }
        }
    }

    @Test("texts of the mediator reach the feed of who asked, and of others only as the effect of a draft")
    func feedRows() {
        func files(with part: String) -> [String] {
            SourceFile.all.filter { file in file.code.contains { $0.contains(part) } }.map(\.path)
        }
        let drafts = "Server/Features/Drafts/DraftEffects.swift"
        let writers = files(with: "INSERT INTO ai_mediation_events").filter { $0.hasPrefix("Server/") }
        #expect(!writers.isEmpty && writers.allSatisfy { $0.hasPrefix("Server/Features/AI/AIStatements") })
        #expect(
            files(with: "AIStatements.insertAnswer(").filter { !$0.hasPrefix("Server/App/") }
                == ["Server/Features/AI/Mediator+Recording.swift", drafts])
        #expect(files(with: "AIStatements.sendDigest(") == ["Server/Features/Drafts/DraftEffects+Digest.swift"])
        #expect(files(with: "event(.pushBackSent") == ["Server/Features/Nags/SendPushBack.swift"])
        #expect(files(with: "nags.pushBackAct(") == [drafts])
        // Whoever reads the rows asks whose they are.
        let readers = SourceFile.all.filter { file in
            file.path.hasPrefix("Server/")
                && file.code.contains { $0.contains("FROM ai_mediation_events a") && !$0.contains("JOIN") }
        }
        #expect(!readers.isEmpty)
        for file in readers where !file.path.contains("Retention") {
            #expect(file.code.contains { $0.contains("isReader(") }, "\(file.path)")
        }
    }

    @Test("drafts take effect in one place, which decides about the effects of other features")
    func effects() {
        let callers = SourceFile.all.filter { file in
            file.code.contains { line in
                ["nags.decideCreation(", "nags.change(", "nags.pushBackAct(", "incentives.decideGrant("].contains {
                    line.contains($0)
                }
            }
        }
        #expect(callers.map(\.path) == ["Server/Features/Drafts/DraftEffects.swift"])
        let deciders = SourceFile.all.filter { file in file.code.contains { $0.contains("effects.decide(") } }
        #expect(deciders.map(\.path) == ["Server/Features/Drafts/Drafts+Steps.swift"])
    }
}
