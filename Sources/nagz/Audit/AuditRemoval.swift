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
            throw Stop(.usage, "--user ID is required: the ID of the person's account")
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
            print("\(name): \(counted(chain.bodies, "body", "bodies"))")
        }
        let bodies = counted(extent.bodies, "body", "bodies")
        guard !isDryRun else {
            print(
                "would delete \(bodies), the key that sealed them and the account's personal data; --yes deletes them"
            )
            return
        }
        print("deleted \(bodies), the key that sealed them and the account's personal data")
        print(
            "The entries remain, with hashes and pseudonyms. Older backups still hold the bodies and the wrapped key,"
        )
        print("which today's master key opens until you replace it (nagz audit keys rotate-master) and destroy it")
    }
}
