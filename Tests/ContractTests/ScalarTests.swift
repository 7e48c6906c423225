import Contract
import Domain
import JSON
import Testing

@Suite("Scalars")
struct ScalarTests {
    @Test(
        "email addresses are trimmed and lower-cased",
        arguments: [
            (" Robin@Example.ORG\t", "robin@example.org"), ("a.b+c@d-e.f.gh", "a.b+c@d-e.f.gh"),
            ("o'neil@x.io", "o'neil@x.io"),
            ("1@2.3", "1@2.3"),
        ])
    func emails(text: String, stored: String) throws {
        #expect(try EmailAddress(wireText: text).wireText == stored)
    }

    @Test(
        "a text that is no plain email address is refused",
        arguments: [
            "", " ", "a", "@", "a@", "@b.org", "a@b", "a@@b.org", "a@b@c.org", ".a@b.org", "a.@b.org", "a..b@c.org",
            "a b@c.org",
            "a@b..org", "a@.org", "a@b.org.", "a@-b.org", "a@b-.org", "a@b_c.org", "\"a b\"@c.org", "a@[127.0.0.1]",
            "a\0@b.org", "a\n@b.org", "é@b.org", "a@bücher.org", "a@b.org,c@d.org", "<a@b.org>",
            String(repeating: "a", count: 65) + "@b.org", "a@" + String(repeating: "b", count: 64) + ".org",
            "a@" + String(repeating: "b.", count: 130) + "org",
        ])
    func badEmails(text: String) {
        #expect(throws: InvalidInput("must be written like name@example.com")) { try EmailAddress(wireText: text) }
    }

    @Test(
        "telephone numbers are a plus sign and digits, however they are typed",
        arguments: [
            ("+4930123456", "+4930123456"), (" +1 (415) 555-2671 ", "+14155552671"), ("+49.30.123456", "+4930123456"),
            ("＋４９（３０）１２–３４．５６", "+4930123456"), ("\u{202A}+٩٧١٥٠١٢٣٤٥٦٧\u{202C}", "+971501234567"),
            ("+12345678", "+12345678"), ("+123456789012345", "+123456789012345"),
        ])
    func phones(text: String, stored: String) throws {
        #expect(try PhoneNumber(wireText: text).wireText == stored)
    }

    @Test(
        "what is no number with the code of a country is refused",
        arguments: [
            "", "+", "4930123456", "004930123456", "+0301234567", "+1234567", "+1234567890123456", "++4930123456",
            "+49301234x6", "+4930123456,+4930123457", "+49 30 12/34 56", "+½2345678",
            "tel:+4930123456",
            "+" + String(repeating: " ", count: 64) + "4930123456",
        ])
    func badPhones(text: String) {
        #expect(throws: InvalidInput.self) { try PhoneNumber(wireText: text) }
    }

    @Test(
        "of a birthday only the written date counts",
        arguments: [
            ("2015-03-01T00:00:00Z", 2015, 3, 1), ("2015-03-01T00:30:00+09:00", 2015, 3, 1),
            ("2015-03-01T23:30:00.000-05:00", 2015, 3, 1), ("2000-02-29T12:00:00.5Z", 2000, 2, 29),
            ("2015-03-01", 2015, 3, 1), ("1900-01-01", 1900, 1, 1),
        ])
    func birthdays(text: String, year: Int, month: Int, day: Int) throws {
        let birthday = try DateOfBirth(wireText: text)
        #expect(birthday.date == CivilDate(year: year, month: month, day: day))
        #expect(birthday.wireText == String(text.prefix(10)))
    }

    @Test(
        "timestamps are written with three fraction digits, rounded down",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_999, "1970-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_770_091_506_000_000, "2026-02-03T04:05:06.000Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
            (Int64.min, "0001-01-01T00:00:00.000Z"),
        ])
    func moments(microseconds: Int64, text: String) {
        let json = JSONWriter.document { $0.timestamp(microseconds: microseconds) }
        #expect(String(decoding: json, as: UTF8.self) == "\"\(text)\"")
        #expect(Timestamp(microseconds: microseconds).wireText == text)
    }

    @Test(
        "a message names a field in words, whatever the client's own names in its path are",
        arguments: [
            ("recipient_id", "The recipient ID is wrong."),
            ("cases[0].question.content", "The content (entry 1) is wrong."),
            ("constraints.a[4294967295]", "The a (entry 4294967296) is wrong."),
            ("constraints.a[9223372036854775807]", "The a is wrong."),
            ("constraints.]a[", "The ]a is wrong."),
        ])
    func fieldWords(path: String, message: String) {
        #expect(APIError(InvalidInput("is wrong", field: path)).message == message)
        #expect(APIError(.policyInvalidValue, InvalidInput("is wrong", field: path)).code == .policyInvalidValue)
    }

    @Test("the error of an item's ID says which of its bounds it exceeds")
    func itemIDs() throws {
        func fault(_ text: String) -> String? {
            do throws(InvalidInput) { _ = try ImportItemID(wireText: text) } catch { return error.message }
            return nil
        }
        #expect(fault("") == "must not be empty")
        #expect(fault(String(repeating: "é", count: 255)) == nil)
        #expect(fault(String(repeating: "e\u{301}", count: 128)) == "must have at most 255 characters")
        #expect(fault("a\u{1f}") == "must not contain control characters")
    }

    @Test("a patch tells an absent field, null and a value apart")
    func patches() throws {
        func update(_ text: String) throws -> NagUpdate { try NagUpdate(json: try JSONValue(parsing: text)) }
        #expect(try update("{}").committedAt == .absent)
        #expect(try update(#"{"committed_at":null}"#).committedAt == .null)
        #expect(try update(#"{"committed_at":"1970-01-01T00:00:00Z"}"#).committedAt == .value(.epoch))
        #expect(String(decoding: NagUpdate().content, as: UTF8.self) == "{}")
        #expect(String(decoding: NagUpdate(committedAt: .null).content, as: UTF8.self) == #"{"committed_at":null}"#)
        #expect(Patch<Int>.absent.applied(to: 3) == 3)
        #expect(Patch<Int>.null.applied(to: 3) == nil)
        #expect(Patch.value(4).applied(to: nil) == 4)
    }

    @Test("secrets do not print themselves")
    func secrets() throws {
        let request = SignupRequest(
            email: try EmailAddress(wireText: "a@b.org"), password: Secret("hunter2!"), displayName: nil)
        let login = ChildLoginRequest(familyCode: "ABC123", username: "kit", pin: try PIN(wireText: "4821"))
        let phone = PhoneRequest(password: Secret("x"), phone: try PhoneNumber(wireText: "+4930123456"))
        #expect(!"\(phone)".contains("30123") && !String(reflecting: phone).contains("30123"))
        #expect(!"\(PhoneConfirmation(code: try PhoneCode(wireText: "271828")))".contains("271828"))
        #expect(!"\(request)".contains("hunter2!"))
        #expect(!String(reflecting: request).contains("hunter2!"))
        #expect(!"\(login)".contains("4821"))
        #expect(!String(reflecting: login).contains("4821"))
    }

    @Test("digests are 64 hexadecimal digits")
    func digests() throws {
        let digest = try HexDigest(wireText: String(repeating: "0aF", count: 21) + "9")
        #expect(digest.bytes.count == 32)
        #expect(digest.wireText == String(repeating: "0af", count: 21) + "9")
        #expect(throws: InvalidInput.self) { try HexDigest(wireText: "00") }
        #expect(throws: InvalidInput.self) { try HexDigest(wireText: String(repeating: "g", count: 64)) }
        #expect(HexDigest(bytes: [1]) == nil)
    }
}
