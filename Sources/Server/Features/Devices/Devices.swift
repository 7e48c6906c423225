import Audit
import Contract
import Domain
import Postgres

/// The devices that push messages go to. Everybody sees and removes their own only.
///
/// A device goes when the session that registered it ends, when its owner leaves or is removed from the family, and with
/// the account. The push token is in no log and no audit entry.
final class Devices {
    /// How many devices one person has at most; the one unused for longest makes room.
    static let limit = 20
    /// How often a registration that changes nothing is noted as use of the device.
    private static let usePeriod = Timestamp.Span.hours(1)

    private let services: Services

    init(_ services: Services) { self.services = services }

    /// The group `devices`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.registerDevice, register)
        routes.signedIn(API.listDevices, list)
        routes.signedIn(API.deleteDevice, delete)
    }

    /// Registers the device that the caller uses. The same token again is the same device; a token of another account
    /// moves to the caller's, because a phone shows messages to whoever is signed in.
    func register(
        _ caller: Caller, _ call: Call<NoParameters, DeviceTokenRegister>
    ) async throws -> DeviceTokenResponse {
        let device = try await write(caller) { account, seq, queries in
            let row = try await queries.query(
                DeviceStatements.device(of: caller.userID, token: call.body.token)
            ).first
            var device = DeviceTokenResponse(
                id: services.random.identifier(at: call.now), userID: caller.userID, platform: call.body.platform,
                token: call.body.token, createdAt: call.now, lastUsedAt: nil)
            if let row, let known = try DeviceTokenResponse(row) {
                if known.platform == device.platform, try row["session_id"] == caller.sessionID {
                    return .answer(known)
                }
                device.id = known.id
                device.createdAt = known.createdAt
                device.lastUsedAt = call.now
            }
            let count = DailyCount(limit: .deviceRegistrations, user: caller.userID)
            let act = Act(
                kind: .deviceRegistered, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                resource: device.id.retyped(), details: ["platform": device.platform.rawValue], stampedRows: 0,
                statements: [
                    DeviceStatements.store(device, of: caller.sessionID, at: call.now),
                    DeviceStatements.deleteUnused(of: caller.userID, besides: device.token, leaving: Self.limit - 1),
                    try await count.increment(at: call.now, queries),
                ])
            return .perform(act, device)
        }
        if call.now >= (device.lastUsedAt ?? device.createdAt) + Self.usePeriod {
            _ = try await services.database.query(DeviceStatements.use(device.id, of: caller.userID, at: call.now))
        }
        return device
    }

    /// The caller's own devices, the latest registrations first.
    func list(_ caller: Caller, _ call: Call<PageRequest, NoBody>) async throws -> Page<DeviceTokenResponse> {
        _ = try await services.access.account(caller, services.database)
        let rows = try await services.database.query(DeviceStatements.page(of: caller.userID, call.parameters))
        return try Page(rows, answering: call.parameters) { try DeviceTokenResponse($0) }
    }

    /// Removes one of the caller's devices; another's does not exist for them.
    func delete(_ caller: Caller, _ call: Call<DevicePath, NoBody>) async throws -> NoAnswer {
        let id = call.parameters.deviceID
        return try await write(caller) { account, seq, queries in
            let row = try await queries.query(DeviceStatements.device(id, of: caller.userID)).first
            guard let row, let device = try DeviceTokenResponse(row) else {
                throw APIError(.notFound, "There is no such device.")
            }
            let act = Act(
                kind: .deviceRemoved, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                resource: id.retyped(), details: ["platform": device.platform.rawValue], stampedRows: 0,
                statements: [DeviceStatements.delete(id, of: caller.userID)])
            return .perform(act, NoAnswer())
        }
    }

    /// Decides in the chain of the caller's family, or in the one outside families.
    private func write<Answer: WireContent>(
        _ caller: Caller, _ decide: (Account, _ seq: Int64, any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        let chain = try await services.access.account(caller, services.database).family ?? .outside
        return try await services.ledger.write(caller, in: chain) { queries in
            let seq = try await Ledger.newestNumber(of: chain, queries)
            return try await decide(try await services.access.account(caller, queries), seq, queries)
        }
    }
}

extension DeviceTokenResponse {
    /// Nil where the row holds no device.
    fileprivate init?(_ row: Row) throws(PostgresError) {
        guard let id: DeviceID = try row["id"] else { return nil }
        let token: String = try row["token"]
        self.init(
            id: id, userID: try row["user_id"], platform: try row["platform"], token: Secret(token),
            createdAt: try row["created_at"], lastUsedAt: try row["last_used_at"])
    }
}
