import JSON

/// The versions of server and API, as `x.y.z`. Encoded with both spellings, because the public clients differ.
public struct VersionResponse: Hashable, WireObject {
    public var serverVersion: String
    public var apiVersion: String
    /// The oldest client that is compatible with this server.
    public var minClientVersion: String

    public init(
        serverVersion: String = NagzVersion.current, apiVersion: String = NagzVersion.api,
        minClientVersion: String = NagzVersion.oldestClient
    ) {
        self.serverVersion = serverVersion
        self.apiVersion = apiVersion
        self.minClientVersion = minClientVersion
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        serverVersion = try fields.required("server_version")
        apiVersion = try fields.required("api_version")
        minClientVersion = try fields.required("min_client_version")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("server_version", serverVersion)
            json.field("api_version", apiVersion)
            json.field("min_client_version", minClientVersion)
            json.field("serverVersion", serverVersion)
            json.field("apiVersion", apiVersion)
            json.field("minClientVersion", minClientVersion)
        }
    }
}
