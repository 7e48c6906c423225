import Audit
import Contract
import Domain
import Postgres

/// The devices that get push messages. Everybody sees and removes their own only.
///
/// A device is deleted when the session that registered it is revoked, when its owner leaves or is removed from the
/// family, and when the account is deleted. When the session expires, the device gets no more messages, and is deleted
/// later with the session's row. The push token is in no log and no audit entry.
final class Devices {
    /// The maximum number of devices of one person. A further one replaces the one that was unused for longest.
    static let maxDevicesPerPerson = 20
    /// The shortest time between two recorded uses of a device. A registration that changes nothing is recorded as a
    /// use only if the last recorded use is at least this long ago.
    private static let minRecordedUseInterval = Timestamp.Span.hours(1)

    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `devices`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.registerDevice, register)
        routes.signedIn(API.listDevices, list)
        routes.signedIn(API.deleteDevice, delete)
    }

    /// Registers the device that the caller uses. A token that is registered again names the same device. A token that
    /// another account has registered moves to the caller's account, because a phone shows messages to whoever is
    /// signed in.
    /// - Throws: 409 if other accounts register the token again and again at the same time.
    func register(
        _ caller: Caller, _ call: Call<NoParameters, DeviceTokenRegister>
    ) async throws -> DeviceTokenResponse {
        let (now, token) = (caller.now, call.body.storedToken)
        let keys = try call.body.subscription.map(webPushKeys)
        for _ in 0..<Self.maxMovesPerRegistration {
            do {
                var device = try await store(caller, call, token, keys)
                if now >= (device.lastUsedAt ?? device.createdAt) + Self.minRecordedUseInterval {
                    _ = try await services.database.query(
                        DeviceStatements.markUsed(device.id, of: caller.userID, at: now))
                    device.lastUsedAt = now
                }
                return device
            } catch let error as PostgresError where error.violates(.deviceToken) {
                try await removeOtherRegistration(of: token, caller)
            }
        }
        throw APIError.deviceIsContended
    }

    /// The maximum number of times that a registration takes the token from another account, in case other accounts
    /// register it concurrently.
    private static let maxMovesPerRegistration = 20

    private func store(
        _ caller: Caller, _ call: Call<NoParameters, DeviceTokenRegister>, _ token: Secret, _ keys: WebPushKeys?
    ) async throws -> DeviceTokenResponse {
        try await services.writeToOwnChain(caller) { account, seq, queries in
            let row = try await queries.query(DeviceStatements.device(of: caller.userID, token: token)).first
            var device = DeviceTokenResponse(
                id: services.random.identifier(at: caller.now), userID: caller.userID, platform: call.body.platform,
                token: token, createdAt: caller.now, lastUsedAt: nil)
            if let row, let knownDevice = try DeviceTokenResponse(row) {
                if knownDevice.platform == device.platform, try row["session_id"] == caller.sessionID,
                    try row["p256dh"] == keys?.p256dh, try row["auth"] == keys?.auth
                {
                    return .answer(knownDevice)
                }
                device.id = knownDevice.id
                device.createdAt = knownDevice.createdAt
                device.lastUsedAt = caller.now
            }
            let count = DailyCount(limit: .deviceRegistrations, user: caller.userID)
            let act = Act(
                kind: .deviceRegistered, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                resource: device.id.retyped(), details: ["platform": device.platform.rawValue], stampedRows: 0,
                statements: [
                    DeviceStatements.store(device, keys, of: caller.sessionID, at: caller.now),
                    DeviceStatements.deleteLeastRecentlyUsed(
                        of: caller.userID, besides: device.token, leaving: Self.maxDevicesPerPerson - 1),
                    try await count.checkedIncrement(at: caller.now, queries),
                ])
            return .perform(act, device)
        }
    }

    /// Returns the keys of a browser's subscription.
    /// - Throws: 409 if this server sends no messages to browsers; 422 for an invalid subscription.
    private func webPushKeys(_ subscription: WebPushSubscription) throws(APIError) -> WebPushKeys {
        guard services.webPushKey != nil else { throw APIError.webPushIsNotConfigured }
        guard WebPushEndpoint(subscription.endpoint) != nil else { throw APIError.webPushEndpointIsInvalid }
        func decoded(_ text: String) -> [UInt8] { bytes(base64URL: text.prefix { $0 != "=" }) ?? [] }
        let keys = WebPushKeys(
            p256dh: decoded(subscription.keys.p256dh), auth: decoded(subscription.keys.auth.wireText))
        guard let keys else { throw APIError.webPushKeysAreInvalid }
        return keys
    }

    /// Removes the token's registration by another account, in an act in that owner's chain, and notifies the owner. If
    /// the process dies before the caller's registration is stored, the token belongs to nobody.
    private func removeOtherRegistration(of token: Secret, _ caller: Caller) async throws {
        let ownerRow = try await services.database.query(
            DeviceStatements.device(ofOthersThan: caller.userID, token: token)
        ).first
        guard let owner = try ownerRow.map(Person.init) else { return }
        let statement = DeviceStatements.device(ofOthersThan: caller.userID, token: token, chain: owner.chain)
        let moveResult: NoAnswer? = try await services.ledger.write(caller.context, in: owner.chain) { queries in
            let account = try await services.access.account(caller, queries)
            guard let row = try await queries.query(statement).first else { return .answer(nil) }
            let person = try Person(row)
            guard person.id == owner.id, person.chain == owner.chain else { return .answer(nil) }
            let (device, platform): (DeviceID, DevicePlatform) = (try row["device_id"], try row["platform"])
            let act = Act(
                kind: .deviceMoved, basis: .nothingChanged(since: try row["seq"]), actor: account.pseudonym,
                subject: person.pseudonym, resource: device.retyped(), details: ["platform": platform.rawValue],
                stampedRows: 0,
                statements: [
                    DeviceStatements.delete(device, of: person.id),
                    DeliveryStatements.insert(
                        DeliveryIDs(services.random, at: caller.now), of: .deviceMoved, to: person.id, at: caller.now),
                ])
            return .perform(act, NoAnswer())
        }
        if moveResult != nil, let email = owner.email { services.mailer?.send(.deviceMoved, to: email) }
    }

    /// Lists the caller's own devices, the latest registrations first.
    func list(_ caller: Caller, _ call: Call<PageRequest, NoBody>) async throws -> Page<DeviceTokenResponse> {
        _ = try await services.access.account(caller, services.database)
        let rows = try await services.database.query(DeviceStatements.page(of: caller.userID, call.parameters))
        return try Page(rows, answering: call.parameters) { try DeviceTokenResponse($0) }
    }

    /// Removes one of the caller's devices. Other people's devices answer 404.
    func delete(_ caller: Caller, _ call: Call<DevicePath, NoBody>) async throws -> NoAnswer {
        let id = call.parameters.deviceID
        return try await services.writeToOwnChain(caller) { account, seq, queries in
            let row = try await queries.query(DeviceStatements.device(id, of: caller.userID)).first
            guard let row, let device = try DeviceTokenResponse(row) else { throw APIError.noSuchDevice }
            let act = Act(
                kind: .deviceRemoved, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                resource: id.retyped(), details: ["platform": device.platform.rawValue], stampedRows: 0,
                statements: [DeviceStatements.delete(id, of: caller.userID)])
            return .perform(act, NoAnswer())
        }
    }
}

extension DeviceTokenResponse {
    /// Reads a device; nil where the row holds none.
    fileprivate init?(_ row: Row) throws(PostgresError) {
        guard let id: DeviceID = try row["id"] else { return nil }
        let token: String = try row["token"]
        self.init(
            id: id, userID: try row["user_id"], platform: try row["platform"], token: Secret(token),
            createdAt: try row["created_at"], lastUsedAt: try row["last_used_at"])
    }
}
