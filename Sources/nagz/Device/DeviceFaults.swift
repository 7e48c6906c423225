import Contract
import Device
import Foundation
import LocalAI
import NagzAI
import SQLite

extension Stop {
    /// Creates the message and the exit code for an error on the device.
    init(device error: any Error) {
        switch error {
        case let stop as Stop: self = stop
        case let error as ClientError: self = Stop(error)
        case let error as SQLiteError: self = Stop(error)
        case let miss as CacheMiss: self = Stop(miss)
        case let refusal as LocalRefusal: self = Stop(refusal)
        case let refusal as QuestionRefusal: self = Stop(refusal)
        case let fault as SyncFault: self = Stop(fault)
        case let fault as LogFault: self = Stop(fault)
        case is PrivateFileError:
            self.init(.inputOutput, "the session's file cannot be read or written: run nagz device logout, then login")
        case is CancellationError: self.init(.tryLater, "cancelled")
        default: self.init(.inputOutput, Self.message(for: error))
        }
    }

    /// Returns the seconds to wait before the next round of sync: as many as the server asked for, else 0. Nil for an
    /// error that a retry cannot solve.
    static func retryDelaySeconds(_ error: any Error) -> Int? {
        switch error {
        case let error as ClientError:
            guard error.isTransient else { return nil }
            if case .refused(let refusal) = error { return refusal.retryAfter ?? 0 }
            return 0
        case SQLiteError.busy, is SyncFault: return 0
        default: return nil
        }
    }

    private init(_ error: ClientError) {
        switch error {
        case .transport(.garbled), .transport(.tooLarge):
            self.init(.protocolFault, "the server breaks the contract: \(Self.message(for: error))")
        case .transport: self.init(.unavailable, "\(Self.message(for: error)); no data on this device was lost")
        case .unreadable(let what): self.init(.protocolFault, what)
        case .signedOut: self.init(.noPermission, "the session has ended: run nagz device login")
        case .accountDeleted:
            self.init(
                .noPermission, "this account was deleted; session, cache and outbox were removed from this device")
        case .tokensUnsaved: self.init(.inputOutput, "new tokens could not be saved: is the disk full?")
        case .refused(let refusal):
            let code: Code =
                switch refusal.status {
                case 401, 403: .noPermission
                case 404: .notFound
                case 429, 503: .tryLater
                case 500...: .unavailable
                default: .notApplied
                }
            self.init(code, refusal.message)
        }
    }

    private init(_ error: SQLiteError) {
        switch error {
        case .newerSchema:
            self.init(.configuration, "the cache belongs to a newer nagz: update this one; the cache was not changed")
        case .full: self.init(.inputOutput, "the disk is full; no data on this device was lost")
        case .corrupt: self.init(.inputOutput, "the cache is damaged: run nagz device sync to download it again")
        case .busy: self.init(.tryLater, "another nagz uses the cache: try again")
        case .inaccessible, .constraint, .unexpectedShape, .failed:
            self.init(.inputOutput, "the device's files: \(error)")
        }
    }

    private init(_ miss: CacheMiss) {
        switch miss {
        case .neverSynced: self.init(.notFound, "this device has not synced yet: run nagz device sync")
        case .nagUnknown: self.init(.notFound, "that nag is not on this device: run nagz device sync")
        case .historyMissing:
            self.init(.noPermission, "this device lacks that person's history, and may not ask the server")
        }
    }

    private init(_ refusal: LocalRefusal) {
        switch refusal {
        case .consentMissing:
            self.init(
                .noPermission,
                "AI mediation needs the ai_mediation consent, which is not in force as far as this device knows")
        case .mustBeRecorded:
            self.init(.noPermission, "only the server records push-backs, and this device may not ask it")
        case .switchedOff:
            self.init(
                .noPermission,
                "answers on this device are switched off by your ai_on_device_enabled preference: nagz device ai set on-device on."
                    + " An excuse can be sent in your own words with --with-words")
        case .modelUnavailable:
            self.init(.unavailable, "E-LOCAL-001: your AI mode needs the operating system's model, which is missing")
        }
    }

    private init(_ refusal: QuestionRefusal) {
        switch refusal {
        case .noRoute(let failure): self.init(failure)
        case .unconfirmed(let prompt):
            self.init(.noPermission, "E-POLICY-002: a constraint asks for a confirmation on a terminal: \(prompt)")
        case .declined: self.init(.notApplied, "E-CANCEL-001: not confirmed; the question was not answered")
        }
    }

    private init(_ failure: RoutingFailure) {
        let code = failure.code.map { "\($0.rawValue): " } ?? ""
        switch failure {
        case .blocked(let violation):
            self.init(.noPermission, "\(code)a constraint blocks this question: \(violation.reason)")
        case .networkUnavailable:
            self.init(
                .unavailable,
                "\(code)the server cannot be reached or gives no usable answers: try again in half a minute")
        case .unavailableInMode:
            self.init(
                .unavailable,
                "\(code)your AI mode leaves nothing that may answer this question. on_device_only needs the operating"
                    + " system's model, local_only what this device holds, byo_only a question that may leave it")
        case .ownProviderMissing:
            self.init(
                .configuration,
                "\(code)your AI mode asks for a provider of your own: store a key, or choose one with"
                    + " nagz device ai set cloud-model; then nagz device sync")
        case .thirdPartyForbidden: self.init(.noPermission, "\(code)the family's policy allows no third party's model")
        case .nothingToWrite:
            self.init(.notApplied, "\(code)your AI mode lets a model alone answer, and no model writes these figures")
        case .switchedOff: self.init(.noPermission, "your AI mode is off")
        }
    }

    private init(_ fault: SyncFault) {
        switch fault {
        case .noProgress: self.init(.protocolFault, "the server returns the same page again and again")
        case .unanswered: self.init(.protocolFault, "the server accepted the outbox, but did not answer all of it")
        }
    }

    private init(_ fault: LogFault) {
        let finding =
            switch fault {
            case .checkpointMissing: "it no longer shows a checkpoint"
            case .unreadable: "its checkpoint is not valid"
            case .unsigned(let origin): "no key this device trusts has signed the checkpoint of \(origin)"
            case .otherLog(let known, let shown): "this device knows the log \(known), but the server shows \(shown)"
            case .shrunk(let old, let new): "it had \(old) entries and now has \(new)"
            case .rewritten(let size): "its first \(size) entries are not those that this device was shown"
            }
        self.init(
            .logBroken,
            "the server's audit log cannot be trusted: \(finding). Nothing was downloaded, and no data on this device"
                + " was lost. If the operator confirms that the server was set up again or restored from a backup,"
                + " run nagz device logout, then login.")
    }

    /// Returns the message of an error on the device, in one line for people.
    static func message(for error: any Error) -> String {
        switch error {
        case ClientError.transport(let fault): fault.description
        case let error as ClientError: Stop(error).message
        case let error as SQLiteError: Stop(error).message
        case let fault as SyncFault: Stop(fault).message
        case let fault as LogFault: Stop(fault).message
        default: (error as NSError).localizedDescription
        }
    }
}
