import Audit
import Contract
import Domain
import HTTP
import Postgres

/// The Merkle log over HTTP: its status, newest checkpoint, tiles, and consistency proofs.
///
/// Tiles contain hashes of hashes and reveal nothing about anybody: a witness of the log needs no account.
final class MerkleLog {
    private let services: Services
    private let logReader: LogReader

    init(_ services: Services) {
        self.services = services
        logReader = LogReader(services)
    }

    /// Returns the status of the log, for guardians and administrators.
    /// - Throws: 403 for everybody else.
    func getStatus(_ caller: Caller, _ call: Call<NoParameters, NoBody>) async throws -> AuditStatus {
        let auditReader = try await services.authorizeAndRecordRead(
            caller, of: nil, reading: API.getAuditStatus.operation)
        let checkpointStatus = services.checkpointStatus
        let snapshot = checkpointStatus.current
        let newest = try await logReader.newestUnverifiedCheckpoint()
        return AuditStatus(
            reader: auditReader.isAdmin ? "admin" : "guardian", familyID: auditReader.family,
            state: checkpointStatus.alarm(at: caller.now).rawValue, fault: snapshot.fault,
            origin: newest?.checkpoint.origin,
            size: newest.map { Int($0.checkpoint.size) }, root: newest.flatMap { HexDigest(bytes: $0.checkpoint.root) },
            checkpointAt: newest?.checkpoint.time, checkpoint: newest?.note,
            exposureMilliseconds: Int(snapshot.exposure(at: caller.now).microseconds / 1_000),
            keys: try await readKeys(),
            // For administrators only: a finding may be of any family.
            check: checkpointStatus.passStatus.current.map { AuditCheckStatus($0, withFinding: auditReader.isAdmin) },
            findings: try await services.database.query(AuditFindingStatements.countOpen).onlyRow()["count"])
    }

    /// Returns the newest checkpoint as a signed note.
    /// - Throws: 404 before the first checkpoint.
    func getCheckpoint(_: CallContext, _ call: Call<NoParameters, NoBody>) async throws -> Response {
        guard let newest = try await logReader.newestUnverifiedCheckpoint() else { throw APIError.noCheckpoint }
        return .text(.ok, newest.note)
    }

    /// Returns the public keys that verify the log's signatures.
    func listKeys(_: CallContext, _ call: Call<NoParameters, NoBody>) async throws -> AuditKeys {
        AuditKeys(keys: try await readKeys())
    }

    private func readKeys() async throws -> [AuditKey] {
        try await services.database.query(LogStatements.keys).map { row throws(PostgresError) in
            AuditKey(verifier: try row["verifier"], handover: try row["handover"])
        }
    }

    /// Returns the hashes of a tile.
    /// - Throws: 404 for an invalid tile, and for one that is not complete yet.
    func getTile(_ name: some TileName) async throws -> Response {
        guard let tile = Tile(level: name.level, path: name.parts), let bytes = try await logReader.bytes(of: tile)
        else {
            throw APIError.noSuchTile
        }
        return Response(.ok, .bytes, bytes: bytes)
    }

    /// Returns the proof that the log of the new size extends the log of the old one.
    /// - Throws: 422 unless 0 < old ≤ new ≤ the newest checkpoint's size.
    func proveConsistency(_: CallContext, _ call: Call<ConsistencyQuery, NoBody>) async throws -> ConsistencyProof {
        let (old, new) = (Int64(call.parameters.old), Int64(call.parameters.new))
        guard old > 0, old <= new else { throw APIError.oldSizeIsInvalid }
        guard let newest = try await logReader.newestUnverifiedCheckpoint(), new <= newest.checkpoint.size,
            let path = try await logReader.consistencyProof(from: old, to: new)
        else { throw APIError.newSizeIsInvalid }
        return ConsistencyProof(old: Int(old), new: Int(new), path: path.compactMap { HexDigest(bytes: $0) })
    }
}

extension AuditCheckStatus {
    fileprivate init(_ status: PassStatus.Status, withFinding: Bool) {
        self.init(
            state: status.verdict.rawValue, startedAt: status.startedAt, families: Int(status.families),
            entries: Int(status.entries), findings: Int(status.findings), lastFinishedAt: status.finishedAt,
            lastFamilies: Int(status.lastPassFamilies), lastEntries: Int(status.lastPassEntries),
            lastFindings: Int(status.lastPassFindings),
            firstFinding: withFinding ? status.firstFinding ?? status.lastPassFirstFinding : nil)
    }
}
