import HTTPClient
import LoopbackClient
import ModelProviders
import NagzAI

/// The models that a server can ask, and how it asks them.
public struct ModelOptions: Sendable {
    /// A service with OpenAI's protocol on the server's machine.
    public struct Gateway: Sendable {
        let url: LoopbackURL
        let model: String
        let key: ModelKey?

        /// - Parameters:
        ///   - url: the base URL.
        ///   - model: one of those that the service lists.
        ///   - key: nil for a service that asks for none.
        public init(url: LoopbackURL, model: String, key: ModelKey? = nil) {
            (self.url, self.model, self.key) = (url, model, key)
        }
    }

    /// The gateway on the server's machine; nil if there is none.
    public var gateway: Gateway?
    /// The prompts for models; nil for the English ones.
    public var prompts: PromptBook?
    /// The addresses at which third parties may be called; by default the public internet.
    var networks = NetworkGuard()
    /// The limits of a call; nil for those that are usual for its host.
    var limits: ModelLimits?
    /// The file of the certificate authorities that are trusted; nil for the system's.
    var authorities: String?

    public init() {}
}
