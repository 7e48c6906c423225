import Domain
import NagzAI

/// The models on this device that may write the texts of answers: the operating system's, and one behind a gateway on the
/// device's loopback address.
public struct LocalModels {
    /// The operating system's model.
    private let system: ModelWriter?
    /// The model behind a gateway on the device's loopback address.
    private let gateway: ModelWriter?

    /// The value without models: the rules write every text.
    public static var none: LocalModels { LocalModels() }

    /// - Parameters:
    ///   - system: the operating system's model. It is used only while it reports that it is available.
    ///   - gateway: the model behind a gateway. Like the operating system's model, it MUST run on this device.
    public init(system: ModelWriter? = nil, gateway: ModelWriter? = nil) {
        for model in [system, gateway].compactMap(\.self) {
            precondition(model.provider.reach == .device, "a model beyond this device")
        }
        (self.system, self.gateway) = (system, gateway)
    }

    /// The model that writes for a person, and a notice about it.
    struct Selection {
        /// The model; nil if none is allowed and able to write.
        var writer: ModelWriter?
        /// The notice that the model that the person has chosen cannot write this text; nil if it can, if they have
        /// chosen none, or if the response has only figures.
        var notice: String?
        /// Whether no model is selected, and at least one was left out because it does not support the task. It is
        /// false if the person has chosen a model: `notice` then says that it cannot write.
        var isTaskUnsupported = false

        /// The model as the router sees it.
        var model: LocalModel? {
            writer.map { writer in
                let name = writer.provider.name
                return LocalModel(isOfSystem: name == .foundationModels, name: name.rawValue)
            }
        }
    }

    /// Returns the model that the person has chosen. Without a choice, or in a mode without one, it is the operating
    /// system's model, if that is available, or else the gateway's. Models that the mode does not allow or that do not
    /// support the task are left out.
    /// - Parameter task: the task; nil for an operation whose response has only figures, which every model supports.
    func selection(for task: ModelTask?, _ choices: AIChoices) async -> Selection {
        var candidates: [ModelWriter] = []
        var isTaskUnsupported = false
        for writer in [system, gateway].compactMap(\.self) {
            let isOfSystem = writer.provider.name == .foundationModels
            guard choices.mode.allowsDeviceModel(isOfSystem: isOfSystem) else { continue }
            guard task.map(writer.covers) ?? true else {
                isTaskUnsupported = true
                continue
            }
            if isOfSystem, await writer.provider.availability() != .available { continue }
            candidates.append(writer)
        }
        guard choices.mode == .auto, let choice = choices.localModel.flatMap(ProviderName.init),
            ProviderName.deviceProviders.contains(choice)
        else { return Selection(writer: candidates.first, isTaskUnsupported: isTaskUnsupported && candidates.isEmpty) }
        let chosenWriter = candidates.first { $0.provider.name == choice }
        guard chosenWriter == nil, task != nil else { return Selection(writer: chosenWriter) }
        // No other model is asked in place of the chosen one.
        return Selection(
            notice:
                "The model \(choice.rawValue) that you have chosen (ai_model_local) cannot write this on this device")
    }
}
