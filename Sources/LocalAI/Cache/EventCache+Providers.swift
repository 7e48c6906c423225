import Contract
import Domain
import DomainSQL
import NagzAI
import SQL
import SQLite

// The server's providers of answers, as of the latest sync.
extension EventCache {
    /// Returns the server's providers; nil if they were never downloaded.
    public func providers(of family: FamilyID) throws(SQLiteError) -> ModelProviderList? {
        try database.first("SELECT providers FROM families WHERE id = \(family) AND providers IS NOT NULL") {
            row throws(SQLiteError) -> ModelProviderList in try Self.parse(try row["providers"], "providers")
        }
    }

    public func store(_ providers: ModelProviderList, of family: FamilyID) throws(SQLiteError) {
        let text = String(decoding: providers.jsonBytes, as: UTF8.self)
        try database.run("UPDATE families SET providers = \(text) WHERE id = \(family)")
    }
}

extension ModelProviderList {
    /// The name of the model behind the server's gateway; nil if the gateway is missing or not available.
    var gatewayModel: String? {
        items.first { $0.name == ProviderName.serverGateway.rawValue && $0.isAvailable }?.model
    }

    /// The name of the model that is asked with a key of the person; nil without a key, or if they have several and
    /// have chosen none.
    var ownModel: String? {
        let ownItems = items.filter { $0.reach == .thirdParty && $0.model != nil }
        return ownItems.first(where: \.isActive)?.model ?? (ownItems.count == 1 ? ownItems[0].model : nil)
    }

    /// Whether the family's policy and the person's role allow models of third parties.
    var allowsThirdParties: Bool { !items.contains { $0.reason == ModelProviderItem.thirdPartiesOff } }
}
