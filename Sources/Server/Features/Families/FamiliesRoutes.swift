import Contract

/// The group `families`: families, their members, and how their children sign in.
enum FamiliesRoutes {
    static func register(in routes: RouteTable, _ families: Families) {
        routes.signedIn(API.createFamily, families.create)
        routes.signedIn(API.getFamily, families.get)
        routes.signedIn(API.updateFamily, families.update)
        routes.signedIn(API.joinFamily, families.join)
        routes.signedIn(API.joinFamilyByID, families.joinByID)
        routes.signedIn(API.leaveFamily, families.leave)
        routes.signedIn(API.renewFamilyCode, families.renewCode)

        routes.signedIn(API.listMembers, families.members)
        routes.signedIn(API.addMember, families.addMember)
        routes.signedIn(API.createMember, families.createMember)
        routes.signedIn(API.removeMember, families.removeMember)

        routes.signedIn(API.setChildCredentials, families.setCredentials)
        routes.signedIn(API.unlockMember, families.unlockMember)
        routes.signedIn(API.changePIN, families.changePIN)
        routes.signedIn(API.getChildSettings, families.childSettings)
        routes.signedIn(API.updateChildSettings, families.updateChildSettings)
    }
}
