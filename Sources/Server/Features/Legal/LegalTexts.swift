import Audit
import Contract

/// The terms of service and the privacy policy. Every change of a text needs a new version.
enum LegalTexts {
    /// Returns the privacy policy. Its version ends with a digest of the paragraphs about third parties, which depend
    /// on the server's configuration.
    static func privacyPolicy(_ parties: ThirdPartyRecipients) -> LegalDocument {
        let thirdParties = thirdPartyParagraphs(parties)
        let digest = hexadecimal(Array(sha256(Array(thirdParties.utf8)).prefix(2)))
        return LegalDocument(
            title: "Privacy policy", version: "1.9-\(digest)", effectiveDate: "2026-11-29",
            content: "\(storedDataText)\n\n\(thirdParties)\n\n\(rightsText)")
    }

    /// Returns the section about third parties and language models: a paragraph for each configured service, and two
    /// about models that a person adds.
    private static func thirdPartyParagraphs(_ parties: ThirdPartyRecipients) -> String {
        var paragraphs: [String] = []
        if let push = parties.pushService {
            paragraphs.append(
                "Notifications for your devices go through \(push). It learns \(parties.pushLearnsDeviceAddresses ? "the device's address" : "who you are in the app") and the words of the notification."
            )
        }
        if parties.hasWebPush {
            paragraphs.append(
                "If you allow notifications in a browser, they go through the push service of the browser's maker. It learns when you get one, and not its words, which only your browser can decrypt."
            )
        }
        if let sms = parties.smsService {
            paragraphs.append(
                "Text messages go through \(sms), if you agreed to them\(parties.sendsPhoneCodes ? " or enter a telephone number, which gets a code" : ""). It learns your telephone number and the words of the message."
            )
        }
        if let mail = parties.mailService {
            paragraphs.append(
                "Mails about your account (its password, address and devices) and about the owners of your family's policy go through \(mail). It learns your email address and the words of the mail."
            )
        }
        if parties.hasServerModel {
            paragraphs.append(
                """
                A language model runs on this server's machine. A question that asks for it is worded by it: it is told counts \
                and the rules' own text, and of an excuse its words. Nothing of that leaves the machine.
                """)
        }
        paragraphs.append(
            """
            Adults can store a key of their own for a language model of another company, such as OpenAI or Anthropic. If the \
            family's policy allows it, and only for a question that asks for it, that company is sent the same things. Its own \
            terms hold for what it does with them. Questions of children are never sent to it.
            """)
        paragraphs.append(
            """
            If you download a language model to your device, the file comes from the address in the catalogue that you or \
            whoever runs this server gave. That address learns your internet address and which file you asked for, and nothing \
            about your family. This server is not asked and does not hear of it. What a model on your device is told stays there.
            """)
        return (["Others"] + paragraphs.map { "- \($0)" }).joined(separator: "\n")
    }

    private static let storedDataText = """
        Nagz keeps the things that the members of a family have asked each other to do. This policy says what it keeps for \
        that, who can see it, and what you can do about it. "We" are the people who run this server.

        What is kept
        - Your account: an email address or, for children, a user name; a name to show; a date of birth if you gave \
        one; a telephone number for text messages if you confirmed one. A number that you enter is kept for ten minutes, and \
        removed within the hour, unless you confirm it; a digest of it counts for a day how many codes it got. Passwords and PINs are kept only as a hash from which they cannot be read back.
        - Your family: who belongs to it, in which role, what each member prefers, and which consents were given and \
        taken back, with the times.
        - Nags: who asked whom for what, until when, and what became of it; notes and excuses that people wrote; \
        points, streaks and badges.
        - An audit log: who did what and when. It holds ids, numbers and codes, never what you wrote, and it names \
        you by a pseudonym.
        - Your sessions, and what the app or browser of each calls itself. Of each device that you signed in on with a password, the digest of a secret, for a year after the last time. Logs of the server hold no message, name, address, telephone number or password.

        Who sees it
        - A nag is seen by the person who sent it, the person it is for, and the guardians of the family. Excuses are \
        seen by their author, by the sender of the nag and by guardians.
        - Reports, the family's history and its audit log are for guardians.
        - People of other families see nothing of it, unless you connect with one of them. An adult with whom you are \
        connected sees your name, your email address, and the nags between the two of you. If you let this person nag your \
        family's children, they also see the names of the children and of the family, and what became of their own nags. \
        The guardians of a child see the nags that the child gets from outside the family.
        - Those of us who review the audit logs see the entries of every family, with ids and pseudonyms. Who reviews \
        reports of abuse reads what the reporter wrote. The audit log records that they looked.
        - It is not sold, and there is no advertising.

        The mediator
        Summaries, tones, predictions and digests are worked out by rules on this server, and only while the consent \
        "AI mediation" is in force. It decides nothing: what becomes of a nag follows fixed rules whether or not it is on. \
        A language model words an answer only for a question that asks for one. A history of your questions, without their \
        words, is kept for 30 days or as long as you choose. Where you have begun an AI session, its last four questions \
        and answers are kept too, sealed, until you end it or 45 minutes after the last one.
        """

    private static let rightsText = """
        Children
        A guardian makes a child's account, or agrees to it, before it can be used. Until a guardian has agreed, \
        an account of a person under 13 can only be exported and deleted; if none agrees within 30 days of the sign-up, it is \
        deleted. Children cannot give consents themselves.

        How long it is kept
        - Of a deleted account, the address, the password and the telephone number are removed at once; the name, the date of \
        birth, the preferences, the pictures and the person's own words within 30 days.
        - Your sessions are kept until 30 days after they would have expired, even if you end them before.
        - Excuses, notes, points and the words of nags that ended are kept for two years, pictures for two years after their \
        nag ended, notifications for a year, and reports of abuse for three years after they were closed.

        Your choices
        - Consents can be taken back at any time and that works at once. The record that they were given stays.
        - You can change your name, address, password and preferences, change or remove your telephone number, end your sessions, block people, and leave the family.
        - You can export what is kept about you, and delete your account; a guardian can delete that of a child. It ends at once.
        - To see, correct or erase anything else that is kept about you, ask the people who run this server. Erasing a person cuts \
        the audit log loose from them; its entries stay, without saying who it was.
        """

    static let termsOfService = LegalDocument(
        title: "Terms of service", version: "1.1", effectiveDate: "2026-11-22",
        content: """
            By using Nagz you agree to the following.

            What it is
            Nagz lets the members of a family ask each other to do things, and keeps count of what was done. It is a \
            help, not a safeguard: it can be late or fail. Do not rely on it alone for medicine or anything else where \
            something forgotten can do harm.

            Your account
            - Tell the truth about who you are and how old you are. Keep your password and your family's codes to \
            yourself: whoever has the invite code can join.
            - Accounts for children are made or approved by a guardian, who answers for their use.
            - Guardians decide who belongs to the family, which rules hold in it, and what children may do.

            How to treat each other
            - Nags are for things that the other person can reasonably be asked to do. No threats, harassment or \
            pressure, and no humiliation of children.
            - You can block people. We may limit or close accounts that harm others.
            - Do not try to get at other families' data, and do not burden the service on purpose.

            Points and rewards
            Points, streaks and badges have no value in money. What a family promises for them is between its members.

            Our part
            - We keep what you write private as the privacy policy says.
            - The service is provided as it is. We mend what breaks when we can, and we may change or end it; we will \
            say so beforehand where possible.
            - What you write stays yours. You allow us to store and show it as far as the service needs that.

            Changes
            When these terms change, their version changes. If you do not agree with the new ones, stop using the service.
            """)
}
