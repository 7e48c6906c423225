import Foundation
import LoopbackClient
import ModelProviders
import NagzAI
import Server

/// The environment of `nagz serve` that names a language model on this machine.
extension ModelOptions {
    static func ofEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> ModelOptions {
        var options = ModelOptions()
        options.prompts = try environment["NAGZ_MODEL_PROMPTS"].map(prompts)
        let (name, keyFile) = (environment["NAGZ_MODEL_NAME"], environment["NAGZ_MODEL_KEY_FILE"])
        guard let text = environment["NAGZ_MODEL_URL"] else {
            guard name == nil, keyFile == nil else {
                throw Stop(.configuration, "NAGZ_MODEL_NAME and NAGZ_MODEL_KEY_FILE need NAGZ_MODEL_URL")
            }
            return options
        }
        guard let url = LoopbackURL(text) else {
            throw Stop(
                .configuration,
                "NAGZ_MODEL_URL takes a URL on this machine, such as http://127.0.0.1:8081/v1, and no other host")
        }
        guard let name, !name.isEmpty else {
            throw Stop(.configuration, "NAGZ_MODEL_URL needs NAGZ_MODEL_NAME: the model, as the gateway lists it")
        }
        options.gateway = Gateway(url: url, model: name, key: try keyFile.map(key))
        return options
    }

    private static func prompts(_ path: String) throws -> PromptBook {
        guard let data = FileManager.default.contents(atPath: path), data.count <= 1 << 20 else {
            throw Stop(.configuration, "NAGZ_MODEL_PROMPTS: there is no file “\(path)” of at most 1 MB")
        }
        do throws(PoolError) { return try PromptBook(parsing: Array(data)) } catch {
            throw Stop(.configuration, "NAGZ_MODEL_PROMPTS: “\(path)”: \(error)")
        }
    }

    /// The file's text without blanks around it.
    private static func key(_ path: String) throws -> ModelKey {
        let text = try KeyFile.read(path, name: "the model key file").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Stop(.configuration, "“\(path)” must hold one key of visible ASCII characters")
        }
        return ModelKey(text)
    }
}
