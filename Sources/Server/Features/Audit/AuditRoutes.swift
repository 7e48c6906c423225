import Audit
import Contract

/// The operations of the tag `audit`: reading and proving the audit log.
enum AuditRoutes {
    static func register(in routes: RouteTable, _ services: Services) {
        let (events, log, overview) = (AuditEvents(services), MerkleLog(services), AuditOverview(services))
        let findings = AuditFindings(services)
        let (export, people) = (AuditExport(services, findings), AuditPeopleList(services))
        routes.signedIn(API.listAuditEvents, events.list)
        routes.signedInResponding(API.exportAuditEvents, AuditEventsExport(services).stream)
        routes.constant(API.listAuditKinds, AuditKindList(kinds: AuditKind.allCases.map(\.rawValue).sorted()))
        routes.signedIn(API.listAuditPeople, people.list)
        routes.signedIn(API.listAuditConsents, people.listConsents)
        routes.signedIn(API.getAuditEvent, events.get)
        routes.signedInResponding(API.exportAuditLog, export.stream)
        routes.signedIn(API.verifyAuditLog, export.verify)
        routes.signedIn(API.checkAuditLog, AuditCheck(services, findings).check)
        routes.signedIn(API.listAuditFindings, findings.list)
        routes.signedIn(API.acknowledgeAuditFinding, findings.acknowledge)
        routes.signedIn(API.getAuditStatus, log.getStatus)
        routes.signedIn(API.listAuditFamilies, overview.listFamilies)
        routes.signedIn(API.getAuditActivity, overview.getActivity)
        routes.open(API.proveAuditConsistency, log.proveConsistency)
        routes.openResponding(API.getAuditCheckpoint, log.getCheckpoint)
        routes.open(API.listAuditKeys, log.listKeys)
        routes.openResponding(API.getAuditTile) { try await log.getTile($1.parameters) }
        routes.openResponding(API.getAuditTileOfTwo) { try await log.getTile($1.parameters) }
        routes.openResponding(API.getAuditTileOfThree) { try await log.getTile($1.parameters) }
    }
}
