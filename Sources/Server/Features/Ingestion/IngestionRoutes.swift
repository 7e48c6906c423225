import Contract

/// What people do and say about nags, by whatever way it comes: operations of the groups `nags` and `sync`.
enum IngestionRoutes {
    static func register(in routes: RouteTable, _ ingestion: Ingestion) {
        routes.signedIn(API.updateNagStatus, ingestion.reportStatus)
        routes.signedIn(API.submitExcuse, ingestion.submitExcuse)
        routes.signedIn(API.uploadEvents, ingestion.upload)
    }
}
