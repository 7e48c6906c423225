import Contract

/// The group `gamification`: points, streaks and badges.
enum GamificationRoutes {
    static func register(in routes: RouteTable, _ gamification: Gamification) {
        routes.signedIn(API.getGamificationSummary, gamification.summary)
        routes.signedIn(API.getLeaderboard, gamification.leaderboard)
        routes.signedIn(API.listGamificationEvents, gamification.events)
        routes.signedIn(API.listBadges, gamification.badges)
    }
}
