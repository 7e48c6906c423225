import HTTPClient
import LoopbackClient
import ModelProviders
import NagzAI

/// Which models a server can ask.
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

    /// Nil if there is none.
    public var gateway: Gateway?
    /// The prompts for models; nil for the English ones.
    public var prompts: PromptBook?
    /// The addresses at which third parties are called: the public internet.
    var networks = NetworkGuard()
    /// How long a call may take; nil for what is usual for its host.
    var limits: ModelLimits?
    /// The file of the authorities that are trusted; nil for the system's.
    var authorities: String?

    public init() {}
}
