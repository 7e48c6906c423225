import Contract
import Domain

extension Sample {
    // MARK: connections

    private static let connection = ConnectionResponse(
        id: id(7), inviterID: id(1), inviteeID: id(4), inviteeEmail: "a@b.org", status: .active, caregiver: true,
        createdAt: moment, respondedAt: moment, otherPartyEmail: "a@b.org", otherPartyDisplayName: "A")
    private static let ofConnection = ConnectionPath(connectionID: id(7))

    static let connections = [
        Sample(
            API.inviteConnection, NoParameters(), ConnectionInvite(inviteeEmail: read("a@b.org"), caregiver: true),
            connection),
        Sample(
            API.listConnections, ConnectionListQuery(status: .active, page: page), NoBody(), page(connection)),
        Sample(API.listPendingConnections, page, NoBody(), page(connection)),
        Sample(API.acceptConnection, ofConnection, NoBody(), connection),
        Sample(API.declineConnection, ofConnection, NoBody(), connection),
        Sample(API.revokeConnection, ofConnection, NoBody(), connection),
        Sample(API.updateConnectionType, ofConnection, ConnectionTypeUpdate(caregiver: false), connection),
        Sample(
            API.listConnectionChildren, ofConnection, NoBody(),
            [
                CaregiverConnectionChild(
                    userID: id(4), displayName: "Cleo", familyID: id(2), familyName: "The Tests", connectionID: id(7))
            ]),
    ]
}
