import Contract
import Domain
import JSON

/// A mail about an account. All words of mails are here, or in `Notice` where a notification says the same.
enum AccountMail {
    case passwordReset(code: String)
    case passwordChanged
    /// To the new address, which the code confirms.
    case emailConfirmation(code: String)
    /// To the old address, after the change.
    case emailChanged
    /// To the previous owner of a device that another account has registered.
    case deviceMoved
    /// To the co-owner who left a policy, and to the family's other guardians, when a successor is proposed.
    case coOwnerProposed

    /// The name of the mail's kind, for webhooks and the log.
    var name: String {
        switch self {
        case .passwordReset: "password_reset"
        case .passwordChanged: "password_changed"
        case .emailConfirmation: "email_change"
        case .emailChanged: "email_changed"
        case .deviceMoved: Notice.deviceMoved.rawValue
        case .coOwnerProposed: Notice.coOwnerProposed.rawValue
        }
    }

    var subject: String {
        switch self {
        case .passwordReset: "Set a new password for Nagz"
        case .passwordChanged: "Your password for Nagz was changed"
        case .emailConfirmation: "Confirm your email address for Nagz"
        case .emailChanged: "Your email address for Nagz was changed"
        case .deviceMoved: "Another account registered a device of yours in Nagz"
        case .coOwnerProposed: "A new co-owner of a family's policy was proposed in Nagz"
        }
    }

    /// Returns the text of the mail.
    /// - Parameter publicURL: the base of links; nil leaves them out.
    func text(_ publicURL: String?) -> String {
        switch self {
        case .passwordReset(let code):
            """
            Somebody asked to set a new password for your account.

            Your code: \(AccountCodes.formatted(code))
            \(publicURL.map { "Or open: \($0)/reset-password#\(code)\n" } ?? "")
            The code works once, for 30 minutes. A new password ends all sessions.
            If you did not ask for it, ignore this mail: your password stays as it is.
            """
        case .passwordChanged:
            """
            The password of your account was changed, and its other sessions were ended.

            If it was not you, set a new password at once with "forgot password", or ask whoever runs the server.
            """
        case .emailConfirmation(let code):
            """
            Somebody asked to use this address for their account.

            Your code: \(AccountCodes.formatted(code))

            Enter it where you asked for the change. It works once, for 30 minutes.
            If you did not ask for it, ignore this mail: nothing changes.
            """
        case .emailChanged:
            """
            Your account now signs in with another email address, and no longer with this one.

            If it was not you, tell whoever runs the server at once.
            """
        case .deviceMoved: Notice.deviceMoved.text
        case .coOwnerProposed: Notice.coOwnerProposed.text
        }
    }
}

extension AccountMail {
    /// Returns the mail as a webhook gets it.
    /// - Parameter publicURL: the base of links; nil leaves them out.
    func webhookBody(_ id: DeliveryID, from sender: String, to address: String, publicURL: String?) -> [UInt8] {
        JSONWriter.document { json in
            json.object { json in
                json.field("delivery_id", id)
                json.field("channel", "mail")
                json.field("event", name)
                json.field("from", sender)
                json.field("to", address)
                json.field("subject", subject)
                json.field("text", text(publicURL))
            }
        }
    }
}
