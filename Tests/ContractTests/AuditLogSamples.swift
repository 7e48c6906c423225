import Contract
import Domain

extension Sample {
    private static let entry = AuditEntry(
        familyID: id(2), n: 7, at: moment, kind: "nag.created", actor: id(20), subject: id(22), actorID: id(1),
        subjectID: id(4), resourceID: id(3), traceID: id(19), requestID: id(21), commit: digest(1), previous: digest(2),
        hash: digest(3), details: ["role": "guardian"])

    /// Operations on the audit log.
    static let auditLog = [
        Sample(
            API.getAuditEvent, AuditEntryPath(familyID: id(2), n: 7), NoBody(),
            AuditEntryDetail(
                entry: entry, atMicroseconds: 1_770_091_506_789_123, payload: "whole", salt: digest(4), body: "00ff",
                proof: InclusionProof(position: 3, leaf: digest(5), size: 4, path: [digest(6)], checkpoint: "note\n"))),
        Sample(
            API.exportAuditLog, AuditExportQuery(familyID: id(2), after: 7), NoBody(),
            PlainText("{\"end\":{\"entries\":0}}\n")),
        Sample(
            API.verifyAuditLog, AuditScopeQuery(familyID: id(2)), NoBody(),
            AuditVerification(
                verdict: "tampered", entries: 6, size: 9, code: "altered_entry", message: "m", familyID: id(2), n: 7,
                position: 8, milliseconds: 12)),
        Sample(
            API.getAuditStatus, NoParameters(), NoBody(),
            AuditStatus(
                reader: "guardian", familyID: id(2), state: "broken", fault: "f", origin: "o", size: 3, root: digest(1),
                checkpointAt: moment, checkpoint: "c", exposureMilliseconds: 5,
                keys: [AuditKey(verifier: "v", handover: "h")],
                check: AuditCheckStatus(
                    state: "unexplained", startedAt: moment, families: 1, entries: 2, findings: 3,
                    lastFinishedAt: moment, lastFamilies: 4, lastEntries: 5, lastFindings: 6, firstFinding: "g"),
                findings: 7)),
        Sample(
            API.checkAuditLog, NoParameters(), AuditCheckOrder(familyID: id(2)),
            AuditCheckResult(
                familyID: id(2), verdict: "unexplained", entries: 1, rows: 2, findings: 3, unproven: 4,
                firstFindings: ["f"], firstUnproven: ["u"], checkedAt: moment)),
        Sample(
            API.listAuditFindings, AuditFindingsQuery(isOpen: true, page: page), NoBody(),
            Page(
                items: [
                    KeptFinding(
                        id: id(60), source: "check", code: "differs", familyID: nil, n: nil, message: "m",
                        foundAt: moment)
                ], total: 1, answering: page)),
        Sample(
            API.acknowledgeAuditFinding, AuditFindingPath(findingID: id(60)), FindingAcknowledgement(reason: "r"),
            KeptFinding(
                id: id(60), source: "verification", code: "altered_entry", familyID: id(2), n: 3, message: "m",
                foundAt: moment, acknowledgedAt: moment, acknowledgedBy: id(1), reason: "r")),
        Sample(
            API.listAuditFamilies, AuditFamiliesQuery(q: "a", cursor: "c"), NoBody(),
            AuditFamilies(
                items: [AuditFamily(familyID: id(2), name: "The Tests", entries: 3, lastAt: moment)], nextCursor: "d")),
        Sample(
            API.getAuditActivity, AuditActivityQuery(familyID: id(2), from: moment, to: moment, timeZone: "UTC"),
            NoBody(),
            AuditActivity(
                from: moment, to: moment, timeZone: "UTC", unit: .hour, starts: [moment, moment],
                series: [AuditSeries(kind: "nag.created", counts: [0, 2])],
                isPartial: false)),
        Sample(
            API.exportAuditEvents,
            AuditEventsExportQuery(
                conditions: .init(
                    familyID: id(2), actorID: id(1), subjectID: id(4), personID: id(5), kind: "nag.created",
                    resourceID: id(3), traceID: id(19), q: "nag", from: moment, to: moment, withoutOwnReads: true),
                format: .csv), NoBody(),
            PlainText("at\r\n")),
        Sample(API.listAuditKinds, NoParameters(), NoBody(), AuditKindList(kinds: ["nag.created"])),
        Sample(
            API.listAuditPeople, AuditScopeQuery(familyID: id(2)), NoBody(),
            AuditPeople(items: [AuditPerson(person: id(20), userID: id(1), name: "Pat", role: "guardian")])),
        Sample(
            API.listAuditConsents, FamilyQuery(familyID: id(2)), NoBody(),
            AuditConsents(items: [
                AuditConsent(
                    person: id(20), userID: id(1), type: .aiMediation, givenBy: id(22), givenByID: id(4),
                    grantedAt: moment)
            ])),
        Sample(
            API.proveAuditConsistency, ConsistencyQuery(old: 3, new: 7), NoBody(),
            ConsistencyProof(old: 3, new: 7, path: [digest(1)])),
        Sample(API.getAuditCheckpoint, NoParameters(), NoBody(), PlainText("note\n")),
        Sample(
            API.listAuditKeys, NoParameters(), NoBody(), AuditKeys(keys: [AuditKey(verifier: "v", handover: nil)])),
        Sample(API.getAuditTile, TilePath(level: "0", first: "000"), NoBody(), Bytes([1, 2])),
        Sample(
            API.getAuditTileOfTwo, TilePathOfTwo(level: "0", first: "000.p", second: "5"), NoBody(), Bytes([1])),
        Sample(
            API.getAuditTileOfThree, TilePathOfThree(level: "0", first: "x001", second: "000.p", third: "5"), NoBody(),
            Bytes([1])),
    ]
}
