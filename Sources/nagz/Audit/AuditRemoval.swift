import Audit
import Domain
import Foundation
import Server

/// `nagz audit prune` and `nagz audit erase`: deletions from the audit log.
enum AuditRemoval {
    /// Deletes the entries that are older than a number of days, with a signed record for each family. Without `--yes`
    /// it only prints what it would delete.
    static func prune(_ arguments: inout Arguments) async throws {
        let retentionDays = Int(Prune.retention.microseconds / 86_400_000_000)
        let days = try arguments.takeNumber("--older-than", in: retentionDays...100_000) ?? retentionDays
        let isDryRun = !arguments.takeFlag("--yes")
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let cutoff = SystemClock().now() - .days(Int64(days))
        let prunePoints = try await Pruning(before: cutoff).run(
            databaseURL: url, keys: try AuditKeyFile.read(arguments.givenOptions), isDryRun: isDryRun
        ) { point in
            let entries = counted(point.entryCount, "entry", "entries")
            print("family \(point.family): \(entries), up to number \(point.lastNumber)")
        }
        let entryCount = prunePoints.reduce(0) { $0 + $1.entryCount }
        print(
            "\(counted(entryCount, "entry", "entries")) of \(counted(prunePoints.count, "family", "families")) from before \(cutoff.rfc3339) "
                + (isDryRun ? "would be deleted; --yes deletes them" : "deleted, with a signed record for each family"))
    }

    /// Deletes the bodies of a person's entries, the key that sealed them and the account's personal data. Without
    /// `--yes` it only prints what it would delete.
    static func erase(_ arguments: inout Arguments) async throws {
        guard let text = try arguments.takeValue("--user"), let user = UserID(text) else {
            throw Stop(.usage, "--user ID is required: the ID of the person's account")
        }
        let isDryRun = !arguments.takeFlag("--yes")
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let extent: Erasure.Extent
        do {
            extent = try await Erasure(of: user).run(
                databaseURL: url, keys: try AuditKeyFile.read(arguments.givenOptions), isDryRun: isDryRun)
        } catch let fault as Erasure.Fault {
            throw Stop(.configuration, fault.description)
        }
        for chain in extent.chains {
            let chainName = chain.family == FamilyID(high: 0, low: 0) ? "outside families" : "family \(chain.family)"
            print("\(chainName): \(counted(chain.bodyCount, "body", "bodies"))")
        }
        let bodiesText = counted(extent.bodyCount, "body", "bodies")
        guard !isDryRun else {
            print(
                "would delete \(bodiesText), the key that sealed them and the account's personal data; --yes deletes them"
            )
            return
        }
        print("deleted \(bodiesText), the key that sealed them and the account's personal data")
        print(
            "The entries remain, with hashes and pseudonyms. Older backups still hold the bodies and the wrapped key,"
        )
        print("which today's master key opens until you replace it (nagz audit keys rotate-master) and destroy it")
    }
}
