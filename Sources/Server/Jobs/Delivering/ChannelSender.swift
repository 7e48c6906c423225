import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Sends the deliveries of one channel through its providers, several at once.
///
/// Each instance that sends notifications has one for each channel. A delivery is claimed in a short statement and
/// belongs to this sender until its lease ends; no transaction is open while the provider answers. When the provider
/// has acknowledged a delivery, it is not sent again, unless this process dies before that is recorded: then the
/// message is repeated with the same id.
final class ChannelSender {
    /// The points where tests make the process fail.
    enum Point {
        /// A delivery is claimed, and its facts are not read yet.
        case claimed
        /// A provider has acknowledged the message, and this is not recorded yet.
        case acknowledged
    }

    /// The time for which a claimed delivery belongs to its sender, well above the time that a provider may take.
    static let lease = Timestamp.Span.minutes(5)
    /// The part of the lease that must be left for an attempt to begin.
    private static let minRemainingLease = Timestamp.Span.minutes(2)
    /// The time between two rounds, unless more deliveries may be due and can run.
    private static let period = Duration.milliseconds(500)

    private let services: Services
    private let channel: DeliveryChannel
    /// The providers. A device gets its message from the first provider that addresses it. A provider that addresses
    /// people sends one message to a person who has no device, or devices that no provider addresses.
    private let providers: [any MessageProvider]
    /// Whether messages to a gateway contain the push tokens of the person's devices.
    private let passesTokens: Bool
    /// Whether messages to a gateway contain the person's telephone number.
    private let passesPhones: Bool
    /// The maximum number of deliveries that run at once: the smallest limit of the providers.
    private let concurrency: Int
    private let retryPolicy: RetryPolicy
    private let staleAfter: Timestamp.Span
    private let figures: DeliveryFigures
    private let calls: CallTracer
    private let log: Log
    /// Called at each point. An error that it throws ends the attempt, and the delivery is tried again after its lease.
    private let reach: (Point) throws -> Void

    /// The number of running deliveries, and of rounds that are claiming some.
    private(set) var inFlight = 0
    private var isStopped = false
    /// Whether the last round claimed as many deliveries as could run, so that more may be due.
    private var isMoreWaiting = false
    private var timer: TimerID?
    private var drainContinuations: [CheckedContinuation<Void, Never>] = []
    /// The cause of the last error, which is not logged twice in a row; nil once a round has succeeded.
    private var lastFailure: String?

    init(
        _ services: Services, _ channel: DeliveryChannel, over providers: [any MessageProvider],
        passesTokens: Bool = false, passesPhones: Bool = false, retryPolicy: RetryPolicy = RetryPolicy(),
        staleAfter: Timestamp.Span, figures: DeliveryFigures, calls: CallTracer, log: Log,
        reach: @escaping (Point) throws -> Void = { _ in }
    ) {
        (self.services, self.channel, self.providers) = (services, channel, providers)
        (self.retryPolicy, self.passesTokens, self.passesPhones) = (retryPolicy, passesTokens, passesPhones)
        concurrency = providers.map(\.maxConcurrentSends).min() ?? 0
        (self.staleAfter, self.figures, self.calls, self.log) = (staleAfter, figures, calls, log)
        self.reach = reach
    }

    private var poller: Poller { services.database.poller }
    private var plan: EscalationPlan { services.escalationPlan }

    // MARK: Rounds

    /// Runs rounds as long as the loop runs, or until the sender is stopped.
    func start() {
        timer = nil
        poller.spawn { [weak self] in
            do { try await self?.runRound() } catch { self?.report(error) }
            guard let self, !isStopped else { return }
            let canClaim = isMoreWaiting && inFlight < concurrency
            timer = poller.schedule(at: .now() + (canClaim ? .zero : Self.period)) { [weak self] in self?.start() }
        }
    }

    /// Stops claiming. Running deliveries end by themselves.
    func stop() {
        isStopped = true
        if let timer { poller.cancel(timer) }
        timer = nil
    }

    /// Waits until no delivery is running.
    func drain() async {
        guard inFlight > 0 else { return }
        await withCheckedContinuation { drainContinuations.append($0) }
    }

    /// Claims as many due deliveries as can run, and begins to send them.
    /// - Returns: the number of claimed deliveries.
    @discardableResult
    func runRound() async throws -> Int {
        let freeSlots = concurrency - inFlight
        guard freeSlots > 0, !isStopped else { return 0 }
        // The round counts as in flight until its deliveries do.
        inFlight += 1
        defer { endRun() }
        let now = services.clock.now()
        let rows = try await services.database.query(
            DeliveryStatements.claim(channel, limit: freeSlots, at: now, until: now + Self.lease))
        isMoreWaiting = rows.count == freeSlots
        let claims = try rows.map { row throws(PostgresError) in
            try ClaimedDelivery(row, channel, leasedUntil: now + Self.lease)
        }
        figures.update(dueSince: isMoreWaiting ? claims.map(\.deliveryDueAt).min() : nil)
        lastFailure = nil
        for claim in claims {
            inFlight += 1
            poller.spawn { [self] in
                await deliver(claim)
                endRun()
            }
        }
        return claims.count
    }

    /// Counts a round or a delivery as ended. If more deliveries may be due and at least half of the slots are free,
    /// the next round begins at once.
    private func endRun() {
        inFlight -= 1
        if inFlight == 0 {
            for continuation in drainContinuations { continuation.resume() }
            drainContinuations = []
        }
        // Deliveries that are due need not wait for the next round when others have ended.
        if isMoreWaiting, inFlight <= concurrency / 2, let timer, !isStopped {
            poller.cancel(timer)
            start()
        }
    }

    // MARK: One delivery

    private func deliver(_ claim: ClaimedDelivery) async {
        do {
            try reach(.claimed)
            let now = services.clock.now()
            guard let row = try await services.database.query(DeliveryStatements.facts(of: claim)).first else {
                return
            }
            let facts = try DeliveryFacts(row, try await digest(of: claim, at: now))
            switch facts.decision(on: claim, at: now, staleAfter: staleAfter, zones: services.zones, plan: plan) {
            case .drop(let reason):
                try await record(DeliveryStatements.markFailed(claim, because: reason.rawValue, isDropped: true))
                figures.dropped.add()
            case .wait(let moment):
                try await record(DeliveryStatements.postpone(claim, until: moment))
                figures.deferred.add()
            case .send(let message):
                if channel == .push, facts.hasOpenSocket {
                    try await record(
                        DeliveryStatements.markDelivered(
                            claim, at: now, next: facts.nextReminder(after: now, zones: services.zones, plan: plan)))
                    return figures.skippedForLiveSocket.add()
                }
                try await RequestScope.$current.withValue(calls.scope(of: facts.trace)) {
                    try await send(message, claim, facts)
                }
            }
        } catch {
            // The lease ends, and the delivery is tried again.
            figures.faults.add()
            report(error)
        }
    }

    /// Returns the contents of a daily digest as of now; nil for another delivery.
    private func digest(of claim: ClaimedDelivery, at now: Timestamp) async throws -> DailyDigest? {
        guard claim.isDigest else { return nil }
        return try DailyDigest(
            try await services.database.query(
                NagStatements.digestNags(
                    of: claim.userID, in: claim.familyID, until: now + DailyDigest.horizon,
                    limit: DailyDigest.maxNamedNags))
        )
    }

    private func send(_ message: DeliveryMessage, _ claim: ClaimedDelivery, _ facts: DeliveryFacts) async throws {
        guard services.clock.now() < claim.leasedUntil - Self.minRemainingLease else { return }
        var summary = SendingSummary(acknowledgedDevices: facts.acknowledgedDevices)
        let devices = try await pushTargets(of: claim.userID)
        let personProvider = providers.first(where: \.sendsPerPerson)
        let otherDevices = devices.filter { provider(for: $0) == nil }
        // The acknowledgement of a gateway that addresses people is stored as that of a device with the person's id.
        let person: DeviceID = claim.userID.retyped()
        if let personProvider, devices.isEmpty || !otherDevices.isEmpty,
            !facts.acknowledgedDevices.contains(person)
        {
            var message = message
            if passesTokens { message.devices = otherDevices }
            if passesPhones { message.phone = facts.phone }
            summary.add(await personProvider.send(message, to: nil), devices.isEmpty ? nil : person)
        }
        for target in devices where !facts.acknowledgedDevices.contains(target.id) {
            guard let provider = provider(for: target) else { continue }
            // With many devices and a slow provider, the remaining devices get the message at the next attempt.
            guard services.clock.now() < claim.leasedUntil - Self.minRemainingLease else {
                summary.add(.retry(reason: "the provider is slow"), nil)
                break
            }
            let outcome = await provider.send(message, to: target)
            summary.add(outcome, target.id)
            if outcome == WebPushProvider.queueFullOutcome { break }
            if case .deviceGone = outcome { try await remove(target, of: claim, facts) }
        }
        if summary.isAcknowledged { try reach(.acknowledged) }
        try await conclude(summary, claim, facts)
    }

    /// Returns the person's devices with open sessions; none if no provider or gateway needs them.
    private func pushTargets(of user: UserID) async throws -> [DeviceTarget] {
        guard passesTokens || providers.contains(where: { !$0.sendsPerPerson }) else { return [] }
        let rows = try await services.database.query(DeviceStatements.pushTargets(of: user, at: services.clock.now()))
        return try rows.map { row throws(PostgresError) in try DeviceTarget(row) }
    }

    private func provider(for device: DeviceTarget) -> (any MessageProvider)? {
        providers.first { $0.supportsDevices(device.platform) }
    }

    /// Records the result of an attempt: a retry, the acknowledgement, or the end of the delivery.
    private func conclude(
        _ summary: SendingSummary, _ claim: ClaimedDelivery, _ facts: DeliveryFacts
    ) async throws {
        let now = services.clock.now()
        let next = facts.nextReminder(after: now, zones: services.zones, plan: plan)
        if let retry = summary.retry,
            let delay = retryPolicy.delay(after: claim.attempt, requested: retry.after, random: services.random)
        {
            try await record(
                DeliveryStatements.scheduleRetry(
                    claim, at: now + delay, because: retry.reason,
                    acknowledged: summary.acknowledgedDevices.sorted()))
            return figures.retried.add()
        }
        if summary.isAcknowledged {
            try await record(DeliveryStatements.markSent(claim, reference: summary.reference, at: now, next: next))
            return (claim.isRepeat ? figures.repeated : figures.sent).add()
        }
        guard let reason = summary.retry?.reason ?? summary.rejection else {
            try await record(
                DeliveryStatements.markFailed(claim, because: DropReason.noDevice.rawValue, isDropped: true))
            return figures.dropped.add()
        }
        if claim.isRepeat, summary.rejection == nil, let next {
            // The provider may be back at the next reminder.
            try await record(DeliveryStatements.scheduleRetry(claim, at: next, because: reason, acknowledged: []))
        } else {
            try await record(DeliveryStatements.markFailed(claim, because: reason, isDropped: false))
        }
        figures.dead.add()
        log.write(.warning, "delivery_dead") {
            $0.field("delivery_id", claim.id)
            $0.field("channel", channel)
            $0.field("attempts", claim.attempt)
            $0.field("reason", reason)
        }
    }

    /// Stores the result of a delivery. After an error it tries again, up to 60 times and a second apart, so that a
    /// message that a provider has acknowledged is not sent twice. Once the sender is stopped, it tries only once more.
    /// Then it throws the last error.
    private func record(_ statement: SQL) async throws {
        for _ in 0..<60 where !isStopped {
            do {
                _ = try await services.database.query(statement)
                return
            } catch { report(error) }
            await withCheckedContinuation { continuation in
                poller.schedule(at: .now() + .seconds(1)) { continuation.resume() }
            }
        }
        _ = try await services.database.query(statement)
    }

    /// Removes a device whose token its provider does not know any more.
    private func remove(_ device: DeviceTarget, of claim: ClaimedDelivery, _ facts: DeliveryFacts) async throws {
        let context = CallContext(systemActAt: services.clock.now(), services.random)
        let actor: Pseudonym = SystemActor.scheduler.retyped()
        let _: NoAnswer = try await services.ledger.write(context, in: claim.familyID) { queries in
            let seq = try await Ledger.newestSequenceNumber(of: claim.familyID, queries)
            let row = try await queries.query(DeviceStatements.device(device.id, of: claim.userID)).first
            guard let row, try row["token"] == device.token else { return .answer(NoAnswer()) }
            return .perform(
                Act(
                    kind: .deviceRemoved, basis: .nothingChanged(since: seq), actor: actor, subject: facts.pseudonym,
                    resource: device.id.retyped(),
                    details: ["platform": device.platform.rawValue, "reason": "token_gone"], stampedRows: 0,
                    statements: [DeviceStatements.delete(device.id, of: claim.userID)]), NoAnswer())
        }
    }

    private func report(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        let cause = (error as? APIError)?.message ?? "\(error)"
        defer { lastFailure = cause }
        guard cause != lastFailure else { return }
        log.write(.warning, "deliveries_delayed") {
            $0.field("channel", channel)
            $0.field("cause", cause)
        }
    }
}

/// The outcomes of all messages of one attempt.
private struct SendingSummary {
    var acknowledgedDevices: Set<DeviceID>
    /// Whether a provider has acknowledged a message, at this attempt or an earlier one.
    var isAcknowledged: Bool
    /// The name that the provider gave to the first message that it acknowledged.
    var reference: String?
    /// The last reason to try again, and the longest time that a provider asks to wait before; nil if no provider asks
    /// for another attempt.
    var retry: (reason: String, after: Timestamp.Span?)?
    /// The reason of the last rejection; nil if no provider has rejected a message.
    var rejection: String?

    /// - Parameter acknowledgedDevices: the devices that acknowledged the message at an earlier attempt.
    init(acknowledgedDevices: Set<DeviceID>) {
        self.acknowledgedDevices = acknowledgedDevices
        isAcknowledged = !acknowledgedDevices.isEmpty
    }

    mutating func add(_ outcome: SendingOutcome, _ device: DeviceID?) {
        switch outcome {
        case .acknowledged(let name):
            isAcknowledged = true
            reference = reference ?? name
            if let device { acknowledgedDevices.insert(device) }
        case .retry(let reason, let after):
            retry = (reason, max(after ?? .seconds(0), retry?.after ?? .seconds(0)))
        case .rejected(let reason): rejection = reason
        case .deviceGone: break
        }
    }
}
