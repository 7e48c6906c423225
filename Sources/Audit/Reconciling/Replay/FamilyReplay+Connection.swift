import Domain

extension FamilyReplay {
    private static let inviterShares = "inviter_shares_children"
    private static let inviteeShares = "invitee_shares_children"

    /// The key of the connection, whose id is also the id of its chain.
    private var connectionKey: StateKey { .id(family.retyped()) }

    mutating func inviteConnection(_ entry: AuditEntry, _ body: AuditBody?) {
        // An invitation does not say whose account the address is.
        insert(
            .connection, connectionKey,
            [
                "inviter": .person(entry.act.actor), "invitee": .unknown, "status": "pending",
                Self.inviterShares: body.map { ExpectedValue($0["caregiver"] == "true") } ?? .lostDetails(nil),
                Self.inviteeShares: "false",
            ], by: entry)
    }

    /// Applies an acceptance. The invitee then shares their children if the inviter does.
    mutating func acceptConnection(_ entry: AuditEntry) {
        let shares = rows[.connection][connectionKey]?[Self.inviterShares] ?? .unknown
        update(
            .connection, connectionKey,
            ["status": "active", "invitee": .person(entry.act.actor), Self.inviteeShares: shares], by: entry)
    }

    mutating func changeConnection(_ entry: AuditEntry, _ body: AuditBody?) {
        func value(_ name: String) -> ExpectedValue {
            body.map { ExpectedValue($0[name] == "true") } ?? .lostDetails(nil)
        }
        update(
            .connection, connectionKey,
            [Self.inviterShares: value(Self.inviterShares), Self.inviteeShares: value(Self.inviteeShares)], by: entry)
        // Once neither party shares children, open nags to children are cancelled.
        guard let connection = rows[.connection][connectionKey] else { return }
        let parties = [connection["inviter"], connection["invitee"]]
        let shares = [connection[Self.inviterShares], connection[Self.inviteeShares]]
        guard shares == ["false", "false"] || body == nil else { return }
        cancelOpenNags(entry, isCertain: body != nil) { !parties.contains($0["recipient"]) }
    }

    mutating func endConnection(_ entry: AuditEntry, _ kind: AuditKind) {
        let isDeclined = kind == .connectionDeclined
        update(
            .connection, connectionKey,
            [
                "status": isDeclined ? "declined" : "revoked", Self.inviterShares: "false",
                Self.inviteeShares: "false",
            ], by: entry)
        if isDeclined {
            update(.connection, connectionKey, ["invitee": .person(entry.act.actor)], by: entry)
        } else {
            cancelOpenNags(entry) { _ in true }
        }
    }
}
