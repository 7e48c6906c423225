import NagzAI
import Testing

@Suite("Faults and capabilities of models")
struct ModelFaultTests {
    @Test(
        "the error code of a model's fault depends on how far the question went",
        arguments: [
            (.unavailable(.notConfigured), "E-LOCAL-001", "E-CLOUD-001", false),
            (.unavailable(.paused), "E-LOCAL-001", "E-CLOUD-002", true),
            (.unavailable(.keyRefused), "E-LOCAL-001", "E-CLOUD-004", false),
            (.unavailable(.limited), "E-LOCAL-001", "E-CLOUD-005", true),
            (.unreachable, "E-LOCAL-001", "E-CLOUD-002", true), (.timedOut, "E-LOCAL-004", "E-CLOUD-002", true),
            (.failed(status: 500), "E-LOCAL-002", "E-CLOUD-002", true),
            (.unreadable, "E-LOCAL-002", "E-CLOUD-002", true), (.tooLong, "E-LOCAL-003", "E-CLOUD-003", false),
            (.keyRefused, "E-LOCAL-002", "E-CLOUD-004", false),
            (.limited(seconds: 3), "E-LOCAL-002", "E-CLOUD-005", true),
            (.refused, "E-LOCAL-002", "E-CLOUD-006", false), (.cancelled, "E-LOCAL-002", "E-CLOUD-002", true),
        ] as [(ModelFault, String, String, Bool)])
    func codes(fault: ModelFault, local: String, cloud: String, isRecoverable: Bool) {
        #expect(fault.code(at: .device).rawValue == local && fault.code(at: .server).rawValue == local)
        #expect(fault.code(at: .thirdParty).rawValue == cloud)
        #expect(fault.code(at: .server).isRecoverable && fault.code(at: .thirdParty).isRecoverable == isRecoverable)
    }

    @Test("a device reaches less far than a server, and a server less far than a third party")
    func reaches() {
        #expect(Reach.allCases.sorted() == [.device, .server, .thirdParty])
        #expect(Reach.device < .server && Reach.server < .thirdParty && !(Reach.thirdParty < .device))
    }

    @Test("a prompt that is too long for the model is not sent, and the model does not count as asked")
    func unsentPrompt() async throws {
        let model = SmallModel()
        let writer = ModelWriter(model, prompts: try .english(), phrasebook: try .english())
        let result = await writer.write(.summarizeExcuse("The bus was late", memberNames: []))
        #expect(result == .failure(.promptTooLong) && model.requestCount == 0)
        #expect(!ModelProblem.promptTooLong.mayHaveBeenAsked && ModelProblem.fault(.tooLong).mayHaveBeenAsked)
        #expect(ModelProblem.promptTooLong.code(at: .device) == .localTooLong)
        #expect(ModelProblem.promptTooLong.fallback == ModelProblem.fault(.tooLong).fallback)
    }

    @Test("a provider covers a request only with its task, schema and tokens")
    func coverage() {
        func request(_ task: ModelTask, bytes: Int = 100, schema: OutputSchema? = nil) -> ModelRequest {
            ModelRequest(
                task: task, systemPrompt: "", userPrompt: String(repeating: "a", count: bytes), schema: schema)
        }
        #expect(ProviderCapabilities.localStandard.covers(request(.coaching)))
        #expect(!ProviderCapabilities.localLite.covers(request(.coaching)), "it does not rewrite")
        #expect(ProviderCapabilities.localLite.covers(request(.digest)))
        let most = 4 * (4_096 - 160)
        #expect(ProviderCapabilities.localStandard.covers(request(.coaching, bytes: most)))
        #expect(!ProviderCapabilities.localStandard.covers(request(.coaching, bytes: most + 1)))
        let unstructured = ProviderCapabilities(
            worksOffline: true, supportsTools: false, supportsSchemas: false, contextTokens: 4_096,
            kinds: [.intentToAction], expectedLatency: .seconds(1))
        #expect(unstructured.covers(request(.intent)))
        #expect(!unstructured.covers(request(.intent, schema: OutputSchema(name: "nag", fields: []))))
        #expect(TaskKind.allCases.map(\.temperature) == [0, 0.7, 0.5, 0.3, 0.3, 0.3])
    }
}

/// A model with room for hardly more than its answer.
private final class SmallModel: ModelProvider {
    let name = ProviderName.localGateway
    let reach = Reach.device
    let capabilities = ProviderCapabilities(
        worksOffline: true, supportsTools: false, supportsSchemas: true, contextTokens: 64,
        kinds: Set(TaskKind.allCases), expectedLatency: .seconds(1))
    private(set) var requestCount = 0

    func generate(_ request: ModelRequest) async throws(ModelFault) -> ModelResult {
        requestCount += 1
        throw .unreachable
    }

    func availability() async -> Availability { .available }
}
