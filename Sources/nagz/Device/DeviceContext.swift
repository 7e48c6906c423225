import Contract
import Device
import Domain
import Foundation
import LocalAI
import ModelProviders
import NagzAI

/// The context of the commands of a device: its folder, session, cache and outbox, opened on demand.
struct DeviceContext {
    let folder: DeviceFolder
    let asJSON: Bool
    /// The model on this machine; nil without one.
    private let gateway: (arguments: ModelArguments, variant: ModelFile.Variant)?
    private let confirmedPrompts = ConfirmedPrompts()

    /// The constraints' prompts that the person has confirmed in this run of the program.
    private final class ConfirmedPrompts { var texts: Set<String> = [] }

    init(folder: DeviceFolder, asJSON: Bool, gateway: (arguments: ModelArguments, variant: ModelFile.Variant)? = nil) {
        self.folder = folder
        self.asJSON = asJSON
        self.gateway = gateway
    }

    func requireSession() throws -> DeviceSession {
        guard let session = try folder.sessionFile.load() else {
            throw Stop(.noPermission, "not signed in on this device: run nagz device login")
        }
        return session
    }

    func requireFamily(of session: DeviceSession) throws -> FamilyID {
        guard let family = session.familyID else { throw Stop(.notFound, "this account is not in a family") }
        return family
    }

    /// Opens the cache, and creates it if it is missing.
    /// - Parameter checksPages: whether to check the whole file for damage.
    func openCache(checksPages: Bool = false) throws -> EventCache {
        try folder.create()
        let cache = try EventCache(
            path: folder.cachePath, seal: try folder.loadOrCreateSeal(), checksPages: checksPages)
        if cache.wasRebuilt { printNotice("the cache was damaged; it was moved aside and is downloaded again") }
        return cache
    }

    func openOutbox() throws -> Outbox {
        try folder.create()
        return try Outbox(path: folder.outboxPath, seal: try folder.loadOrCreateSeal())
    }

    func makeClient(_ session: DeviceSession) throws -> ServerClient {
        ServerClient(
            session, keptIn: folder.sessionFile, over: try HTTPTransport(session.server), now: MachineClock.currentTime)
    }

    func makeSyncService(_ session: DeviceSession, _ cache: EventCache) throws -> SyncService {
        try makeSyncService(try makeClient(session), session, cache, mode: .cursor)
    }

    func makeSyncService(_ client: ServerClient, _ session: DeviceSession, _ cache: EventCache, mode: SyncMode) throws
        -> SyncService
    {
        let outbox = try openOutbox()
        try warnOfUnreadableItems(outbox)
        return SyncService(
            cache: cache, outbox: outbox, source: client, mode: mode, logKey: session.logKey,
            now: MachineClock.currentTime)
    }

    /// Returns the number of items that another key has sealed, and prints a notice if there are any.
    @discardableResult func warnOfUnreadableItems(_ outbox: Outbox) throws -> Int {
        let count = try outbox.totalUnreadableCount()
        guard count > 0 else { return 0 }
        printNotice(
            "\(counted(count, "action")) in the outbox cannot be read or uploaded, because the key is not the one that"
                + " sealed them: put the earlier file back at \(folder.sealingKeyPath), or give them up with"
                + " nagz device logout --discard")
        return count
    }

    /// Downloads the server's list of model providers into the cache, if the person's mode allows models beyond this
    /// device.
    func downloadProvidersIfUsed(_ client: ServerClient, _ cache: EventCache, _ family: FamilyID) async throws {
        let mode = try cache.choices(of: family).mode
        guard mode == .auto || mode == .byoOnly else { return }
        try cache.store(try await client.call(API.listModelProviders, FamilyQuery(familyID: family)), of: family)
    }

    /// Returns an AI service that answers from this device's cache, by rules and by a model on this machine if there is
    /// one. It sends nothing to other machines.
    /// - Parameters:
    ///   - continuesSession: whether a question continues the turns of the last AI session on this device.
    ///   - report: called with the execution report of each answer.
    func makeLocalService(
        _ cache: EventCache, _ family: FamilyID, of session: DeviceSession, continuesSession: Bool = false,
        report: @escaping (ExecutionReport) -> Void = { _ in }
    ) throws -> LocalAIService {
        let outboxCompletions = try openOutbox().waitingCompletions(in: family)
        let phrasebook = try Phrasebook.english()
        let models = DeviceModels(gateway: try gateway.map { try LocalGateway($0.arguments, variant: $0.variant) })
            .makeLocalModels(prompts: try ModelArguments.readEnvironmentPrompts() ?? .english(), phrasebook: phrasebook)
        let log = ExecutionLog(
            user: session.userID, newID: MachineClock.newUUID, stopwatch: MachineClock.uptimeMicroseconds
        ) { record in
            // A full disk must not prevent the answer.
            try? cache.store(record)
            report(record.execution)
        }
        return LocalAIService(
            facts: CacheFacts(
                cache, family: family, outboxCompletions: outboxCompletions, now: MachineClock.currentTime),
            heuristics: Heuristics(phrasebook: phrasebook), models: models, dialog: dialog, log: log,
            continuesSession: continuesSession)
    }

    /// The dialog that prints warnings on standard error, and asks for confirmations on a terminal. It does not ask
    /// again for a confirmation that the person has given.
    private var dialog: ConstraintDialog {
        ConstraintDialog(
            warn: { printNotice("warning: \($0)") },
            confirm: { prompt in
                guard isatty(STDIN_FILENO) != 0 else { return .nobodyToAsk }
                if confirmedPrompts.texts.contains(prompt) { return .given }
                printNotice(prompt)
                printNotice("Continue? Type yes:")
                guard readLine(strippingNewline: true) == "yes" else { return .declined }
                confirmedPrompts.texts.insert(prompt)
                return .given
            })
    }

    /// Returns the client of the server's AI operations, which asks the person for confirmations.
    /// - Parameter report: called with the report on each answer of the server.
    func makeServerService(_ session: DeviceSession, report: @escaping (ExecutionReport) -> Void) throws
        -> ServerAIService
    {
        ServerAIService(try makeClient(session), dialog: dialog, report: report)
    }

    /// Returns the ID of the nag that a text names: the whole ID, or the end of exactly one cached nag's ID. A whole ID
    /// is not looked up in the cache.
    func resolveNagID(_ text: String, _ cache: EventCache, _ family: FamilyID) throws -> NagID {
        if let id = NagID(text) { return id }
        let ending = text.lowercased()
        let matches = try cache.nags(of: family, includingClosed: true).filter {
            $0.id.description.hasSuffix(ending)
        }
        switch matches.count {
        case 1: return matches[0].id
        case 0: throw Stop(.notFound, "no nag on this device ends in “\(text)”: nagz device nags --all lists them")
        default: throw Stop(.usage, "\(matches.count) nags end in “\(text)”: give more digits of the ID")
        }
    }

    /// Prints a line beside the answer, on standard error.
    func printNotice(_ line: String) { printError(line) }
}

/// The machine's clocks, and IDs from them.
struct MachineClock: DeviceClock {
    func now() -> Timestamp { Self.currentTime() }

    func sleep(for span: Timestamp.Span) async throws {
        try await Task.sleep(for: .microseconds(span.microseconds))
    }

    /// Returns the present time without fractions of a millisecond, like the times of people's acts.
    @Sendable static func currentTime() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
            .flooredToMillisecond
    }

    /// Returns the microseconds since the machine started.
    static func uptimeMicroseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// Returns a UUID version 7 (RFC 9562, section 5.7), which sorts by its creation time.
    static func newIdentifier<Kind>() -> Identifier<Kind> {
        let id = newUUID()
        return Identifier(high: id.high, low: id.low)
    }

    /// Returns the two halves of a UUID version 7.
    static func newUUID() -> (high: UInt64, low: UInt64) {
        var random = SystemRandomNumberGenerator()
        let milliseconds = UInt64(bitPattern: currentTime().microseconds / 1_000) & 0xffff_ffff_ffff
        return (
            milliseconds << 16 | 0x7000 | random.next() & 0x0fff,
            0x8000_0000_0000_0000 | random.next() & 0x3fff_ffff_ffff_ffff
        )
    }
}
