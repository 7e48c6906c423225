import Contract

/// The upload of a device's outbox, of the group `sync`.
enum IngestionRoutes {
    static func register(in routes: RouteTable, _ ingestion: Ingestion) {
        routes.signedIn(API.uploadEvents, ingestion.upload)
    }
}
