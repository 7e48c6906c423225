import LocalAI
import ModelProviders
import NagzAI

/// Assembles the models of a device.
public struct DeviceModels {
    private let system: any ModelProvider
    private let gateway: (any ModelProvider)?

    /// - Parameters:
    ///   - system: the operating system's model, which reports itself as unavailable on other systems.
    ///   - gateway: the model behind a gateway on this machine; nil without one.
    public init(system: any ModelProvider = FoundationModelsProvider(), gateway: (any ModelProvider)?) {
        (self.system, self.gateway) = (system, gateway)
    }

    /// Returns the models in the form in which `LocalAIService` uses them.
    public func makeLocalModels(prompts: PromptBook, phrasebook: Phrasebook) -> LocalModels {
        func writer(_ provider: any ModelProvider) -> ModelWriter {
            ModelWriter(provider, prompts: prompts, phrasebook: phrasebook)
        }
        return LocalModels(system: writer(system), gateway: gateway.map(writer))
    }
}
