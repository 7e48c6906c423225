import Audit
import Contract
import Domain
import Postgres

extension Families {
    /// Sets or replaces a child's user name and PIN, for guardians. The account must have been made in the family. The
    /// child's sessions end.
    package func setCredentials(_ caller: Caller, _ call: Call<MemberPath, ChildCredentialsSet>) async throws
        -> MemberDetail
    {
        let (path, now, body) = (call.parameters, caller.now, call.body)
        let setter = try await services.access.member(caller, of: path.familyID, services.database)
        // The hash costs time, so only a guardian's request computes it.
        let hash =
            setter.role == .guardian
            ? try await services.hashing.hash(body.pin.wireText, .credentials, for: caller.userID) : nil
        return try await mappingUsernameConflict {
            try await services.ledger.write(caller, in: path.familyID) { queries in
                let member = try await services.access.member(caller, of: path.familyID, queries)
                guard let hash, member.denial(of: .setChildCredentials) == nil else {
                    return .denied(.childCredentialsSetDenied, to: member, .guardianOnly)
                }
                let child = try await self.member(path.userID, of: path.familyID, queries)
                guard child.role == .child else { throw APIError.memberIsNoChild }
                guard child.isFamilyAccount else {
                    return .denied(
                        .childCredentialsSetDenied, to: member, reason: Denial.hasOwnSignIn.rawValue,
                        subject: child.pseudonym, APIError(.policyForbidden, .hasOwnSignIn))
                }
                try await ChildUsername.requireFree(body.username, for: child.id, in: path.familyID, queries)
                let act = Act(
                    kind: .childCredentialsSet, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                    subject: child.pseudonym, changesRights: true, stampedRows: 0,
                    statements: [
                        CredentialStatements.setLogin(body.username, pinHash: hash, for: child.id, at: now),
                        SessionStatements.revokeChildSessions(of: child.id, at: now),
                        PINAttemptStatements.reset(.forChild(child.id)),
                    ])
                var detail = child.detail(in: path.familyID)
                detail.hasChildLogin = true
                return .perform(act, detail)
            }
        }
    }

    /// Ends a child's lockout after wrong PINs and resets the count, for guardians. Nothing is written if the child is
    /// not locked out.
    func unlockMember(_ caller: Caller, _ call: Call<MemberPath, NoBody>) async throws -> MemberDetail {
        let path = call.parameters
        return try await services.ledger.write(caller, in: path.familyID) { queries in
            let member = try await services.access.member(caller, of: path.familyID, queries)
            if let denial = member.denial(of: .setChildCredentials) {
                return .denied(.childLockoutLiftDenied, to: member, denial)
            }
            let child = try await self.member(path.userID, of: path.familyID, queries)
            let detail = child.detail(in: path.familyID)
            guard try await PINAttempts.lockoutEnds(of: [child.id], at: caller.now, queries)[child.id] != nil else {
                return .answer(detail)
            }
            let act = Act(
                kind: .childLockoutLifted, basis: .rightsUnchanged(since: member.seq), actor: member.pseudonym,
                subject: child.pseudonym, stampedRows: 0, statements: [PINAttemptStatements.reset(.forChild(child.id))]
            )
            return .perform(act, detail)
        }
    }

    /// Changes the caller's own PIN, for a child who knows the current one. Attempts are limited and counted as at
    /// sign-in. The child's other sessions end.
    func changePIN(_ caller: Caller, _ call: Call<MemberPath, PinChangeRequest>) async throws -> StatusAnswer {
        if let earlier: StatusAnswer = try await services.ledger.replayEarlierAnswer(caller) { return earlier }
        let (path, now, body) = (call.parameters, caller.now, call.body)
        let member = try await services.access.member(caller, of: path.familyID, services.database)
        guard member.userID == path.userID, member.role == .child else {
            return try await refusePINChange(caller, path)
        }
        let pinHashQuery = CredentialStatements.pinHash(of: path.userID, in: path.familyID)
        guard let checkedHash: String = try await services.database.query(pinHashQuery).first?["pin_hash"] else {
            throw APIError.noPIN
        }
        let attempts = PINAttempts.forChild(path.userID)
        let lockoutEnd = try await attempts.countOrThrow(at: now, services.database)
        let (isRight, newHash) = try await attempts.refundingOnFailure(services.database) {
            let isRight = try await services.hashing.matches(
                body.currentPin.wireText, against: checkedHash, .credentials, for: caller.userID)
            let newHash =
                isRight ? try await services.hashing.hash(body.newPin.wireText, .credentials, for: caller.userID) : ""
            return (isRight, newHash)
        }

        return try await services.ledger.write(caller, in: path.familyID) { queries in
            let member = try await services.access.member(caller, of: path.familyID, queries)
            var act = Act(
                kind: .childPinChanged, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                subject: member.pseudonym, changesRights: true, stampedRows: 0)
            // The PIN that was checked may have been replaced in the meantime.
            guard isRight, try await queries.query(pinHashQuery).first?["pin_hash"] == checkedHash else {
                act.kind = .signInFailed
                act.details = ["method": "pin_change"]
                act.changesRights = false
                if !isRight { act.recordLockout(until: lockoutEnd) }
                return .refuse(act, .pinIsWrong)
            }
            act.statements = [
                CredentialStatements.setPINHash(newHash, for: member.userID, at: now),
                SessionStatements.revokeChildSessions(of: member.userID, except: caller.sessionID, at: now),
                PINAttemptStatements.reset(attempts),
            ]
            return .perform(act, StatusAnswer(status: "ok"))
        }
    }

    /// Records the refusal of a PIN change in the audit log, and throws `APIError.onlyChildChangesPIN`.
    private func refusePINChange(_ caller: Caller, _ path: MemberPath) async throws -> StatusAnswer {
        try await services.ledger.write(caller, in: path.familyID) { queries in
            let member = try await services.access.member(caller, of: path.familyID, queries)
            return .denied(
                .childPinChangeDenied, to: member, reason: "child_only",
                APIError.onlyChildChangesPIN)
        }
    }

    /// Performs a write, and throws 409 if another child of the family has the user name.
    func mappingUsernameConflict<Answer>(_ write: () async throws -> Answer) async throws -> Answer {
        do {
            return try await write()
        } catch let error as PostgresError where error.violates(.childUsername) {
            throw APIError.userNameIsTaken
        }
    }
}
