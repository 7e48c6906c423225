import Contract

/// The group `preferences`: what members want for themselves in a family.
enum PreferencesRoutes {
    static func register(in routes: RouteTable, _ preferences: MemberPreferences) {
        routes.signedIn(API.getPreferences, preferences.get)
        routes.signedIn(API.updatePreferences, preferences.update)
        routes.signedIn(API.getMemberPreferences, preferences.getOfMember)
        routes.signedIn(API.updateMemberPreferences, preferences.updateOfMember)
    }
}
