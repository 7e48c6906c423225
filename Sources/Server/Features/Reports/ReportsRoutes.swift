import Contract

/// The group `reports`: a family's nags in figures.
enum ReportsRoutes {
    static func register(in routes: RouteTable, _ reports: Reports) {
        routes.signedIn(API.getWeeklyReport, reports.weekly)
        routes.signedIn(API.getFamilyMetrics, reports.metrics)
    }
}
