import Device
import Foundation
import LoopbackClient
import ModelProviders
import NagzAI
import Server

/// A language model on this machine, named by options or by the environment.
struct ModelArguments {
    let url: LoopbackURL
    let modelName: String
    let key: ModelKey?

    /// Reads a model; nil if no URL is given.
    /// - Parameters:
    ///   - url, model, keyFile: each option's name, for errors, and its value; nil if it was not given.
    init?(
        url: (name: String, value: String?), model: (name: String, value: String?),
        keyFile: (name: String, value: String?)
    ) throws {
        guard let text = url.value else {
            guard model.value == nil, keyFile.value == nil else {
                throw Stop(.configuration, "\(model.name) and \(keyFile.name) need \(url.name)")
            }
            return nil
        }
        guard let address = LoopbackURL(text) else {
            throw Stop(
                .configuration,
                "\(url.name) takes a URL on this machine, such as http://127.0.0.1:8081/v1, and no other host")
        }
        guard let name = model.value, !name.isEmpty else {
            throw Stop(.configuration, "\(url.name) needs \(model.name): the model, as the gateway lists it")
        }
        (self.url, self.modelName) = (address, name)
        key = try keyFile.value.map(Self.readKey)
    }

    /// Reads the key in a file, without white space around it.
    private static func readKey(_ path: String) throws -> ModelKey {
        let text = try KeyFile.read(path, name: "the model key file").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Stop(.configuration, "“\(path)” must hold one key of visible ASCII characters")
        }
        return ModelKey(text)
    }

    /// Reads the model that the environment names; nil without one.
    static func fromEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ModelArguments? {
        func variable(_ name: String) -> (String, String?) { (name, environment[name]) }
        return try ModelArguments(
            url: variable("NAGZ_MODEL_URL"), model: variable("NAGZ_MODEL_NAME"),
            keyFile: variable("NAGZ_MODEL_KEY_FILE"))
    }

    /// Removes the options that name a model, and reads that model. Without them it reads the model that the
    /// environment names; nil if there is none.
    init?(_ arguments: inout Arguments) throws {
        func option(_ name: String) throws -> (String, String?) { (name, try arguments.takeValue(name)) }
        let optionModel = try ModelArguments(
            url: option("--model-url"), model: option("--model-name"), keyFile: option("--model-key-file"))
        guard let namedModel = try optionModel ?? Self.fromEnvironment() else { return nil }
        self = namedModel
    }

    /// Reads the prompts in a file.
    @Sendable
    static func readPrompts(_ path: String) throws -> PromptBook {
        guard let data = FileManager.default.contents(atPath: path), data.count <= 1 << 20 else {
            throw Stop(.configuration, "there is no file “\(path)” of at most 1 MB")
        }
        do throws(PoolError) { return try PromptBook(parsing: Array(data)) } catch {
            throw Stop(.configuration, "“\(path)”: \(error)")
        }
    }

    /// Reads the prompts in the file that the environment names for a device; nil if it names none.
    static func readEnvironmentPrompts() throws -> PromptBook? {
        try GivenOptions(environment: ProcessInfo.processInfo.environment, file: nil)[Options.modelPrompts]
    }
}

extension ModelOptions {
    /// Reads the gateway and the prompts of `nagz serve`.
    init(_ given: GivenOptions) throws {
        self.init()
        func labelled(_ option: Option<String>) -> (String, String?) {
            (given.label(option), given.value(of: option)?.text)
        }
        prompts = try given[Options.modelPrompts]
        gateway = try ModelArguments(
            url: labelled(Options.modelURL), model: labelled(Options.modelName), keyFile: labelled(Options.modelKeyFile)
        ).map { Gateway(url: $0.url, model: $0.modelName, key: $0.key) }
    }
}

extension LocalGateway {
    /// Creates the gateway of `nagz device`.
    convenience init(_ arguments: ModelArguments, variant: ModelFile.Variant) throws {
        try self.init(
            arguments.url, model: arguments.modelName, key: arguments.key,
            capabilities: variant == .lite ? .localLite : .localStandard)
    }
}
