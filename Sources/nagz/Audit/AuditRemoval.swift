import Audit
import Domain
import Foundation
import Server

/// `nagz audit prune` and `nagz audit erase`: deletions from the audit log.
enum AuditRemoval {
    static func prune(_ arguments: inout Arguments) async throws {
        let retention = Int(Prune.retention.microseconds / 86_400_000_000)
        let days = try arguments.number("--older-than", in: retention...100_000) ?? retention
        let isDryRun = !arguments.flag("--yes")
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let cutoff = SystemClock().now() - .days(Int64(days))
        let cuts = try await Pruning(before: cutoff).run(
            databaseURL: url, keys: try AuditKeyFile.read(arguments.given), isDryRun: isDryRun
        ) { cut in
            print("family \(cut.family): \(counted(cut.entries, "entry", "entries")), up to number \(cut.number)")
        }
        let total = cuts.reduce(0) { $0 + $1.entries }
        print(
            "\(counted(total, "entry", "entries")) of \(counted(cuts.count, "family", "families")) from before \(cutoff.rfc3339) "
                + (isDryRun ? "would be deleted; --yes deletes them" : "deleted, with a signed record for each family"))
    }

    static func erase(_ arguments: inout Arguments) async throws {
        guard let text = try arguments.value("--user"), let user = UserID(text) else {
            throw Stop(.usage, "--user ID is needed: the person's id")
        }
        let isDryRun = !arguments.flag("--yes")
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let extent: Erasure.Extent
        do {
            extent = try await Erasure(of: user).run(
                databaseURL: url, keys: try AuditKeyFile.read(arguments.given), isDryRun: isDryRun)
        } catch let fault as Erasure.Fault {
            throw Stop(.configuration, fault.description)
        }
        for chain in extent.chains {
            let name = chain.family == FamilyID(high: 0, low: 0) ? "outside families" : "family \(chain.family)"
            print("\(name): \(chain.bodies) bodies")
        }
        guard !isDryRun else {
            print(
                "\(extent.bodies) bodies, the key that sealed them and the person's account would go; --yes erases them"
            )
            return
        }
        print("\(extent.bodies) bodies, the key that sealed them and the person's account are gone")
        print(
            "what remains: the entries, with hashes and stand-ins; in backups from before also the bodies and the wrapped key,"
        )
        print("readable with today's master key until it is changed and destroyed: nagz audit keys rotate-master")
    }
}
