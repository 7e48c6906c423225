import Domain
import NagzAI

/// The models on this device that may write the texts of answers: the operating system's, and one behind a gateway on the
/// device's loopback address.
public struct LocalModels {
    private let system: ModelWriter?
    private let gateway: ModelWriter?

    /// No model: the rules write everything.
    public static var none: LocalModels { LocalModels() }

    /// - Parameters:
    ///   - system: the operating system's. It writes only while it says that it is available.
    ///   - gateway: the one behind a gateway. Both MUST run on this device.
    public init(system: ModelWriter? = nil, gateway: ModelWriter? = nil) {
        for model in [system, gateway].compactMap(\.self) {
            precondition(model.provider.reach == .device, "a model beyond this device")
        }
        (self.system, self.gateway) = (system, gateway)
    }

    /// The model that writes for a person, and a notice for them about it.
    struct Selection {
        var writer: ModelWriter?
        /// The notice that the model is not the one that the person has chosen; nil if it is, or if they have chosen
        /// none.
        var notice: String?
        /// Whether the models that are available and that the mode allows cannot do the task.
        var lacksTask = false

        /// The model as the router sees it.
        var model: LocalModel? {
            writer.map { writer in
                let name = writer.provider.name
                return LocalModel(isOfSystem: name == .foundationModels, name: name.rawValue)
            }
        }
    }

    /// Returns the model that the person has chosen. Without a choice, or where the mode decides, it is the first of
    /// the system's and the gateway's model that is available, that the mode allows, and that can do the task.
    /// - Parameter task: the task; nil for an operation of figures, for which every model counts as able.
    func selection(for task: ModelTask?, _ choices: AIChoices) async -> Selection {
        var found: [ModelWriter] = []
        var lacksTask = false
        for writer in [system, gateway].compactMap(\.self) {
            let isOfSystem = writer.provider.name == .foundationModels
            guard choices.mode.uses(systemModel: isOfSystem) else { continue }
            guard task.map(writer.covers) ?? true else {
                lacksTask = true
                continue
            }
            if isOfSystem, await writer.provider.availability() != .available { continue }
            found.append(writer)
        }
        guard choices.mode == .auto, let wanted = choices.localModel.flatMap(ProviderName.init),
            ProviderName.onDevice.contains(wanted)
        else { return Selection(writer: found.first, lacksTask: lacksTask && found.isEmpty) }
        let chosen = found.first { $0.provider.name == wanted }
        guard chosen == nil, task != nil else { return Selection(writer: chosen) }
        // Another model is never asked in its place.
        return Selection(
            notice:
                "The model \(wanted.rawValue) that you have chosen (ai_model_local) cannot write this on this device")
    }
}
