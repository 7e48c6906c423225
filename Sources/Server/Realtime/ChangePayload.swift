import Domain

/// The payloads of a notification: the families and connections that have changed, as text of less than 8,000 bytes
/// each, which is PostgreSQL's limit.
enum ChangePayload {
    private static let idsPerPayload = 200
    /// The prefix of a connection's ID.
    private static let connectionPrefix: Character = "c"

    /// Returns as many payloads as the changed families and connections need.
    /// - Parameter connections: the elements of `families` that are the ids of connections.
    static func texts(of families: Set<FamilyID>, connections: Set<FamilyID> = []) -> [String] {
        let names = families.map { connections.contains($0) ? "\(connectionPrefix)\($0)" : $0.description }
        return names.chunks(of: idsPerPayload).map { $0.joined(separator: ",") }
    }

    /// Returns the families in a payload, without its connections.
    static func families(in payload: String) -> [FamilyID] {
        payload.split(separator: ",").compactMap { $0.first == connectionPrefix ? nil : FamilyID($0) }
    }

    static func connections(in payload: String) -> [FamilyID] {
        payload.split(separator: ",").compactMap { $0.first == connectionPrefix ? FamilyID($0.dropFirst()) : nil }
    }
}
