import Contract
import Domain
import SQL

/// Every statement on devices and their push tokens. Triggers delete the devices that a session registered when the
/// session is revoked, and all of a person's devices when the account is deleted.
enum DeviceStatements {
    private static let columns: SQL = "d.id, d.user_id, d.platform, d.token, d.created_at, d.last_used_at"

    // MARK: Reads

    /// Reads a page of the person's devices, the latest registrations first.
    static func page(of user: UserID, _ page: PageRequest) -> SQL {
        page.select(
            columns, from: "devices", as: "d", where: "d.user_id = \(user)", orderBy: "d.created_at DESC, d.id DESC")
    }

    /// Reads the person's device with that token, its `session_id`, and a browser's keys.
    static func device(of user: UserID, token: Secret) -> SQL {
        """
        SELECT \(columns), d.session_id, d.p256dh, d.auth FROM devices d
        WHERE d.token = \(token.wireText) AND d.user_id = \(user)
        """
    }

    /// Reads the device with that token that another account registered: its `device_id` and `platform`, the columns of
    /// its owner as a `Person`, and as `seq` the newest sequence number of `chain`.
    static func device(ofOthersThan user: UserID, token: Secret, chain: FamilyID = .outside) -> SQL {
        """
        SELECT d.id AS device_id, d.platform, c.seq, \(AccountStatements.personColumns)
        FROM devices d JOIN users u ON u.id = d.user_id \(AccountStatements.activeMembershipJoin)
        JOIN family_clock c ON c.family_id = \(chain)
        WHERE d.token = \(token.wireText) AND d.user_id <> \(user)
        """
    }

    /// Reads the person's device with an id.
    static func device(_ device: DeviceID, of user: UserID) -> SQL {
        "SELECT \(columns) FROM devices d WHERE d.id = \(device) AND d.user_id = \(user)"
    }

    /// Reads the person's devices that get push messages, with their tokens: those whose session is open, and those
    /// that were registered without a session. Devices of expired sessions stay stored for a while, and get none.
    static func pushTargets(of user: UserID, at now: Timestamp) -> SQL {
        """
        SELECT d.id, d.platform, d.token, d.p256dh, d.auth FROM devices d
        WHERE d.user_id = \(user) AND (d.session_id IS NULL OR \(SessionStatements.isOpen("d.session_id", at: now)))
        ORDER BY d.created_at, d.id
        """
    }

    /// A condition: somebody has a device. `user` is an SQL expression or a value.
    static func exists(of user: SQL) -> SQL {
        "EXISTS (SELECT FROM devices WHERE devices.user_id = \(user))"
    }

    // MARK: Statements of an act

    /// Stores a device or its changes. A token that another account has registered violates `devices_token_key`. Stores
    /// nothing when the session has ended.
    static func store(
        _ device: DeviceTokenResponse, _ keys: WebPushKeys?, of session: SessionID?, at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO devices (id, user_id, session_id, platform, token, p256dh, auth, created_at, last_used_at)
        SELECT \(device.id), \(device.userID), \(session), \(device.platform), \(device.token.wireText),
               \(keys?.p256dh), \(keys?.auth), \(device.createdAt), \(device.lastUsedAt)
        FROM ledger_stamp WHERE \(SessionStatements.staysOpen(session, at: now))
        ON CONFLICT (id) DO UPDATE SET
            session_id = excluded.session_id, platform = excluded.platform, p256dh = excluded.p256dh,
            auth = excluded.auth, last_used_at = excluded.last_used_at
        """
    }

    /// Deletes the person's devices, except the one with that token and the `count` others that were used last.
    static func deleteLeastRecentlyUsed(of user: UserID, besides token: Secret, leaving count: Int) -> SQL {
        """
        DELETE FROM devices USING ledger_stamp WHERE devices.id IN (
            SELECT d.id FROM devices d WHERE d.user_id = \(user) AND d.token <> \(token.wireText)
            ORDER BY coalesce(d.last_used_at, d.created_at) DESC, d.id DESC OFFSET \(count))
        """
    }

    static func delete(_ device: DeviceID, of user: UserID) -> SQL {
        "DELETE FROM devices USING ledger_stamp WHERE devices.id = \(device) AND devices.user_id = \(user)"
    }

    static func deleteAll(of user: UserID) -> SQL {
        "DELETE FROM devices USING ledger_stamp WHERE devices.user_id = \(user)"
    }

    // MARK: Use

    /// Records that the device was used.
    static func markUsed(_ device: DeviceID, of user: UserID, at now: Timestamp) -> SQL {
        "UPDATE devices SET last_used_at = \(now) WHERE id = \(device) AND user_id = \(user)"
    }
}
