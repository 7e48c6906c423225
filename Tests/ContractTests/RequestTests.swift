import Contract
import JSON
import OpenAPICheck
import Testing

/// One request body and what must become of it.
struct BodyCase: Sendable, CustomTestStringConvertible {
    let schema: String
    let body: String
    /// Nil where the body is fine; else the field the error names (empty for the body as a whole).
    let field: String?
    /// Whether the document can say so too. It cannot where a rule goes beyond JSON Schema.
    let isInDocument: Bool

    var testDescription: String { "\(schema) \(body.prefix(60))" }
}

func fine(_ schema: String, _ bodies: String...) -> [BodyCase] {
    bodies.map { BodyCase(schema: schema, body: $0, field: nil, isInDocument: true) }
}

func wrong(_ schema: String, _ field: String, _ bodies: String...) -> [BodyCase] {
    bodies.map { BodyCase(schema: schema, body: $0, field: field, isInDocument: true) }
}

/// Refused although the document, being JSON Schema, lets it pass.
func wrongBeyondSchema(_ schema: String, _ field: String, _ bodies: String...) -> [BodyCase] {
    bodies.map { BodyCase(schema: schema, body: $0, field: field, isInDocument: false) }
}

/// Read although the document is stricter.
func lenient(_ schema: String, _ bodies: String...) -> [BodyCase] {
    bodies.map { BodyCase(schema: schema, body: $0, field: nil, isInDocument: false) }
}

let someID = "018F3C1E-0a52-7c3d-9b61-2f4e5d6c7b8a"
private let nagBase = """
    "recipient_id":"\(someID)","due_at":"2030-01-01T00:00:00Z","category":"chores","done_definition":"ack_only"
    """

@Suite("Request bodies")
struct RequestTests {
    static let family: [BodyCase] =
        fine("PreferenceUpdate", #"{"prefs_json":{}}"#, #"{"prefs_json":{"own":{"deep":[1,"x"]}}}"#)
        + wrong("PreferenceUpdate", "prefs_json", "{}", #"{"prefs_json":null}"#, #"{"prefs_json":[]}"#)
        + wrongBeyondSchema(
            "PreferenceUpdate", "prefs_json", #"{"prefs_json":{"a":["\u0000"]}}"#, #"{"prefs_json":{"\u0000":1}}"#)
        + fine("FamilyCreate", #"{"name":"H","time_zone":null}"#, #"{"name":"H","time_zone":"Europe/Berlin"}"#)
        + wrong("FamilyCreate", "time_zone", #"{"name":"H","time_zone":1}"#, #"{"name":"H","time_zone":""}"#)
        + fine("FamilyUpdate", "{}", #"{"name":"H","more":1}"#, #"{"time_zone":"UTC"}"#)
        + wrong("FamilyUpdate", "name", #"{"name":""}"#, #"{"name":false}"#)
        + wrong("FamilyUpdate", "time_zone", #"{"time_zone":2}"#)
        + fine("FamilyCreate", #"{"name":"H"}"#, #"{"name":"\#(String(repeating: "é", count: 255))"}"#)
        + wrong(
            "FamilyCreate", "name", "{}", #"{"name":""}"#, #"{"name":" \t "}"#, #"{"name":"a\nb"}"#,
            #"{"name":"a\u202eb"}"#, #"{"name":"\#(String(repeating: "e\u{301}", count: 128))"}"#)
        + fine("JoinRequest", #"{"invite_code":"AbC"}"#)
        + wrong("JoinRequest", "invite_code", "{}", #"{"invite_code":null}"#)
        + fine("CodeRenewal", #"{"code":"invite_code"}"#, #"{"code":"child_code"}"#)
        + wrong("CodeRenewal", "code", "{}", #"{"code":"invite"}"#, #"{"code":null}"#)
        + fine("MemberAdd", #"{"user_id":"\#(someID)","role":"child"}"#)
        + wrong(
            "MemberAdd", "user_id", #"{"role":"child"}"#, #"{"user_id":"","role":"child"}"#,
            #"{"user_id":"{\#(someID)}","role":"child"}"#, #"{"user_id":"\#(someID)0","role":"child"}"#)
        + wrong(
            "MemberAdd", "role", #"{"user_id":"\#(someID)"}"#, #"{"user_id":"\#(someID)","role":"Child"}"#,
            #"{"user_id":"\#(someID)","role":"admin"}"#, #"{"user_id":"\#(someID)","role":null}"#)
        + fine(
            "MemberCreateAndAdd", #"{"display_name":"K","role":"child"}"#,
            #"{"display_name":"K","role":"child","username":null,"pin":null}"#)
        + wrong(
            "MemberCreateAndAdd", "display_name", #"{"display_name":"","role":"child"}"#,
            #"{"display_name":" \u00a0","role":"child"}"#, #"{"display_name":"K\u0000","role":"child"}"#)
        + wrongBeyondSchema("MemberCreateAndAdd", "display_name", #"{"display_name":"\u200b","role":"child"}"#)
        + wrong("MemberCreateAndAdd", "username", #"{"display_name":"K","role":"child","username":""}"#)
        + wrong("MemberCreateAndAdd", "pin", #"{"display_name":"K","role":"child","pin":"12a4"}"#)
        + fine("ChildCredentialsSet", #"{"username":"kit","pin":"1234"}"#)
        + wrong("ChildCredentialsSet", "pin", #"{"username":"kit"}"#)
        + fine("PinChangeRequest", #"{"current_pin":"1234","new_pin":"4321"}"#)
        + wrong("PinChangeRequest", "new_pin", #"{"current_pin":"1234","new_pin":"12345"}"#)
        + fine(
            "ChildSettingsUpdate", "{}", #"{"max_snoozes_per_day":0}"#, #"{"max_snoozes_per_day":99.0}"#,
            #"{"quiet_hours_start":"21:00","quiet_hours_end":"06:30:15"}"#,
            #"{"can_snooze":null,"quiet_hours_start":null}"#)
        + wrong(
            "ChildSettingsUpdate", "max_snoozes_per_day", #"{"max_snoozes_per_day":-1}"#,
            #"{"max_snoozes_per_day":100}"#, #"{"max_snoozes_per_day":1.5}"#, #"{"max_snoozes_per_day":"3"}"#,
            #"{"max_snoozes_per_day":1e30}"#, #"{"max_snoozes_per_day":true}"#)
        + wrong("ChildSettingsUpdate", "can_snooze", #"{"can_snooze":"yes"}"#, #"{"can_snooze":1}"#)
        + wrong(
            "ChildSettingsUpdate", "quiet_hours_end", #"{"quiet_hours_end":"24:00"}"#, #"{"quiet_hours_end":"6:00"}"#,
            #"{"quiet_hours_end":"06:00:60"}"#, #"{"quiet_hours_end":""}"#, #"{"quiet_hours_end":"06:00Z"}"#)

    static let nags: [BodyCase] =
        fine(
            "NagCreate", "{\(nagBase)}", "{\(nagBase),\"description\":\"\"}",
            "{\(nagBase),\"family_id\":null,\"connection_id\":\"\(someID)\",\"recurrence\":\"monthly\"}",
            "{\(nagBase),\"description\":\"\(String(repeating: "x", count: 2_000))\",\"unknown\":{}}",
            "{\(nagBase),\"strategy_template\":\"friendly_reminder\",\"policy_id\":null}")
        + wrong("NagCreate", "recipient_id", "{}")
        + wrong("NagCreate", "description", "{\(nagBase),\"description\":\"\(String(repeating: "x", count: 2_001))\"}")
        + wrong("NagCreate", "description", "{\(nagBase),\"description\":\"a\\u0000\"}")
        + wrong("NagCreate", "strategy_template", "{\(nagBase),\"strategy_template\":null}")
        + wrong("NagCreate", "recurrence", "{\(nagBase),\"recurrence\":\"yearly\"}")
        + wrong("NagCreate", "family_id", "{\(nagBase),\"family_id\":\"x\"}")
        + ["2030-01-01", "2030-01-01T00:00:00", "tomorrow", "", "2030-1-1T00:00:00Z", "２030-01-01T00:00:00Z"].flatMap {
            wrong("NagCreate", "due_at", "{\(nagBase)}".replacing("2030-01-01T00:00:00Z", with: $0))
        }
        + ["2030-13-01T00:00:00Z", "2030-01-01T25:00:00Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"]
        .flatMap {
            wrongBeyondSchema("NagCreate", "due_at", "{\(nagBase)}".replacing("2030-01-01T00:00:00Z", with: $0))
        }
        + ["2030-01-01T00:00:00.123456789Z", "2030-01-01T00:00:00+05:30", "2030-01-01t00:00:00.5z"].flatMap {
            fine("NagCreate", "{\(nagBase)}".replacing("2030-01-01T00:00:00Z", with: $0))
        }
        + fine("NagUpdate", "{}", #"{"committed_at":null}"#, #"{"due_at":null,"category":"meds"}"#)
        + fine("NagUpdate", #"{"description":null}"#, #"{"description":""}"#)
        + wrong(
            "NagUpdate", "description", #"{"description":1}"#,
            #"{"description":"\#(String(repeating: "x", count: 2_001))"}"#)
        + wrong("NagUpdate", "committed_at", #"{"committed_at":"soon"}"#)
        + wrong("NagUpdate", "done_definition", #"{"done_definition":"done"}"#)
        + fine("NagStatusUpdate", #"{"status":"completed","note":null}"#)
        + wrong("NagStatusUpdate", "status", "{}", #"{"status":"done"}"#)
        + wrong("NagStatusUpdate", "note", #"{"status":"open","note":{}}"#)
        + fine("ExcuseCreate", #"{"text":"x"}"#, #"{"text":"x","category":"anything"}"#)
        + wrong("ExcuseCreate", "text", "{}", #"{"text":""}"#, #"{"text":"\#(String(repeating: "x", count: 2_001))"}"#)

    static let abuseReports: [BodyCase] =
        fine("AbuseReportCreate", #"{"target_id":"\#(someID)","reason":"x"}"#)
        + wrong("AbuseReportCreate", "target_id", #"{"reason":"x"}"#)
        + wrong("AbuseReportCreate", "reason", #"{"target_id":"\#(someID)","reason":""}"#)
        + fine("AccountCreate", "{}", #"{"email":"a@b.org","display_name":"A","date_of_birth":"1990-01-02T00:00:00Z"}"#)
        + wrong("AccountCreate", "display_name", #"{"display_name":""}"#)
        + fine("AbuseReportReviewUpdate", #"{"status":"open"}"#, #"{"status":"open","severity":null,"note":null}"#)
        + wrong("AbuseReportReviewUpdate", "status", "{}", #"{"status":"done"}"#)
        + wrong("AbuseReportReviewUpdate", "severity", #"{"status":"open","severity":"high"}"#)
        + wrong("AbuseReportReviewUpdate", "note", #"{"status":"open","note":""}"#)
        + fine("AuditCheckOrder", "{}", #"{"family_id":null}"#, "{\"family_id\":\"\(someID)\"}")
        + wrong("AuditCheckOrder", "family_id", #"{"family_id":"x"}"#)
        + fine("FindingAcknowledgement", #"{"reason":"A restored backup."}"#)
        + wrong("FindingAcknowledgement", "reason", "{}", #"{"reason":""}"#, #"{"reason":null}"#)

    static let connections: [BodyCase] =
        fine("ConnectionInvite", #"{"invitee_email":"a@b.org"}"#, #"{"invitee_email":"A@B.org","caregiver":true}"#)
        + wrong("ConnectionInvite", "invitee_email", "{}", #"{"invitee_email":"a"}"#, #"{"invitee_email":null}"#)
        + wrong("ConnectionInvite", "caregiver", #"{"invitee_email":"a@b.org","caregiver":"true"}"#)
        + fine("ConnectionTypeUpdate", #"{"caregiver":true}"#, #"{"caregiver":false}"#)
        + wrong("ConnectionTypeUpdate", "caregiver", "{}", #"{"caregiver":null}"#)

    static let rest: [BodyCase] =
        fine("BlockCreate", #"{"target_id":"\#(someID)"}"#)
        + fine("DeviceTokenRegister", #"{"platform":"macos","token":"t"}"#)
        + fine("DeviceTokenRegister", #"{"platform":"android","token":"t"}"#)
        + fine(
            "DeviceTokenRegister",
            #"{"platform":"web","subscription":{"endpoint":"https://a/b","expirationTime":null,"keys":{"p256dh":"B","auth":"A"}}}"#
        )
        + wrong("DeviceTokenRegister", "platform", #"{"token":"t"}"#, #"{"platform":"windows","token":"t"}"#)
        + wrong("DeviceTokenRegister", "token", #"{"platform":"ios","token":""}"#)
        + wrongBeyondSchema("DeviceTokenRegister", "token", #"{"platform":"ios"}"#)
        + wrongBeyondSchema("DeviceTokenRegister", "subscription", #"{"platform":"web","token":"t"}"#)
        + wrongBeyondSchema(
            "DeviceTokenRegister", "subscription",
            #"{"platform":"ios","token":"t","subscription":{"endpoint":"https://a","keys":{"p256dh":"B","auth":"A"}}}"#)
        + fine("AIKeyUpdate", #"{"key":"0123456789abcdef","model":"m","endpoint":null,"password":"p"}"#)
        + wrong("AIKeyUpdate", "key", #"{"key":"short","model":"m","password":"p"}"#)
        + wrong("AIKeyUpdate", "model", #"{"key":"0123456789abcdef","model":"","password":"p"}"#)
        + wrong("AIKeyUpdate", "password", #"{"key":"0123456789abcdef","model":"m"}"#)
        + wrong("BlockCreate", "target_id", "{}")
        + fine("BlockUpdate", #"{"state":"active"}"#)
        + wrong("BlockUpdate", "state", #"{"state":""}"#)
        + fine("ConsentCreate", #"{"consent_type":"sms_opt_in"}"#, #"{"consent_type":"ai_mediation","family_id":null}"#)
        + wrong("ConsentCreate", "consent_type", "{}", #"{"consent_type":"all"}"#)
        + fine("ConsentUpdate", #"{"revoked":false}"#, #"{"revoked":true}"#, #"{"status":"revoked"}"#)
        + wrong("ConsentUpdate", "revoked", #"{"revoked":null}"#, #"{"revoked":"true"}"#)
        + wrong("ConsentUpdate", "revoked", "{}", #"{"granted":false}"#)
        + wrong("ConsentUpdate", "status", #"{"status":"active"}"#)
        + fine("ExcuseSummaryRequest", #"{"text":"x","nag_id":"\#(someID)"}"#)
        + fine("CoachQuestionRequest", #"{"family_id":"\#(someID)","text":"What is due?"}"#)
        + wrong("CoachQuestionRequest", "text", #"{"family_id":"\#(someID)","text":""}"#)
        + wrong("ExcuseSummaryRequest", "text", #"{"nag_id":"\#(someID)"}"#)
        + ["ToneSelectRequest", "CoachingRequest", "PushBackRequest"].flatMap {
            fine($0, #"{"nag_id":"\#(someID)"}"#) + wrong($0, "nag_id", "{}", #"{"nag_id":5}"#, #"{"nag_id":null}"#)
        }
        + fine("PushBackRequest", #"{"nag_id":"\#(someID)","draft":true}"#)
        + wrong(
            "PushBackRequest", "draft", #"{"nag_id":"\#(someID)","draft":null}"#,
            #"{"nag_id":"\#(someID)","draft":"yes"}"#)

    private static func batch(_ items: String...) -> String {
        #"{"family_id":"\#(someID)","items":[\#(items.joined(separator: ","))]}"#
    }

    private static func item(_ rest: String, id: String = someID) -> String {
        #"{"client_id":"\#(id)","nag_id":"\#(someID)","made_at":"2030-01-01T00:00:00Z",\#(rest)}"#
    }

    static let outbox: [BodyCase] =
        fine(
            "OutboxUpload", batch(item(#""kind":"status","status":"completed""#)),
            batch(item(#""kind":"status","status":"completed","note":null,"source":"dictation""#)),
            batch(item(#""kind":"excuse","text":"x","category":"forgot""#)),
            batch(item(#""kind":"note","text":"x""#)))
        + wrong("OutboxUpload", "items", #"{"family_id":"\#(someID)"}"#)
        + wrongBeyondSchema(
            "OutboxUpload", "items", batch(),
            batch(item(#""kind":"note","text":"x""#), item(#""kind":"note","text":"y""#)))
        + wrong("OutboxUpload", "items[0].kind", batch(item(#""text":"x""#)), batch(item(#""kind":"gift","text":"x""#)))
        + wrong("OutboxUpload", "items[0].status", batch(item(#""kind":"status""#)))
        + wrong(
            "OutboxUpload", "items[0].text", batch(item(#""kind":"excuse""#)), batch(item(#""kind":"note","text":"""#)))
        + fine(
            "OutboxUpload", batch(item("\"kind\":\"summary\",\"of\":\"\(someID)\",\"text\":\"s\"")),
            batch(item("\"kind\":\"relation\",\"of\":\"\(someID)\",\"to\":\"\(someID)\"")),
            batch(item("\"kind\":\"merge\",\"of\":\"\(someID)\",\"into\":\"\(someID)\"")))
        + wrong("OutboxUpload", "items[0].into", batch(item("\"kind\":\"merge\",\"of\":\"\(someID)\"")))
        + wrong("OutboxUpload", "items[0].of", batch(item(#""kind":"summary","text":"s""#)))
        + wrong("OutboxUpload", "items[0].category", batch(item(#""kind":"excuse","text":"x","category":"lazy""#)))
        + wrong("OutboxUpload", "items[0].client_id", batch(item(#""kind":"note","text":"x""#, id: "1")))
        + wrong("OutboxUpload", "items[0].source", batch(item(#""kind":"note","text":"x","source":"system""#)))

    static let policies: [BodyCase] =
        fine(
            "PolicyUpdate", "{}", #"{"strategy_template":null,"constraints":null,"owners":null}"#,
            #"{"strategy_template":"friendly_reminder","constraints":{"daily_nag_cap":3.0,"max_pushback":null}}"#,
            #"{"constraints":{"points_multiplier":0.5,"mood":"quiet","loud":false}}"#, "{\"owners\":[\"\(someID)\"]}")
        + wrong("PolicyUpdate", "strategy_template", #"{"strategy_template":"stern"}"#)
        + wrong("PolicyUpdate", "constraints", #"{"constraints":[]}"#, #"{"constraints":8}"#)
        + wrong("PolicyUpdate", "owners", #"{"owners":"x"}"#, #"{"owners":{}}"#)
        + wrong("PolicyUpdate", "owners[0]", #"{"owners":["x"]}"#, #"{"owners":[null]}"#)
        + fine("ApprovalCreate", "{}", #"{"comment":null}"#, #"{"comment":""}"#, #"{"comment":"Good","more":1}"#)
        + wrong(
            "ApprovalCreate", "comment", #"{"comment":1}"#,
            "{\"comment\":\"\(String(repeating: "x", count: 2_001))\"}")

    static let incentives: [BodyCase] = {
        let (when, what) = (
            #""condition":{"type":"streak_reached","count":100}"#, #""action":{"type":"badge","amount":1}"#
        )
        let base = "\"family_id\":\"\(someID)\""
        return fine(
            "IncentiveRuleCreate", "{\(base),\(when),\(what)}",
            "{\(base),\(when),\(what),\"approval_mode\":\"guardian_confirmed\",\"more\":1}",
            "{\(base),\"condition\":{\"type\":\"nag_completed\",\"count\":1.0,\"x\":[]},\(what)}")
            + wrong("IncentiveRuleCreate", "family_id", "{\(when),\(what)}")
            + wrong("IncentiveRuleCreate", "condition", "{\(base),\(what)}", "{\(base),\(what),\"condition\":[]}")
            + wrong("IncentiveRuleCreate", "action", "{\(base),\(when)}", "{\(base),\(when),\"action\":null}")
            + wrong(
                "IncentiveRuleCreate", "approval_mode", "{\(base),\(when),\(what),\"approval_mode\":null}",
                "{\(base),\(when),\(what),\"approval_mode\":\"never\"}")
            + fine(
                "IncentiveRuleUpdate", "{}", "{\(when)}", "{\(what),\"approval_mode\":\"auto\"}",
                #"{"condition":null,"action":null,"approval_mode":null,"status":null}"#, #"{"status":"retired"}"#)
            + wrong("IncentiveRuleUpdate", "condition.count", #"{"condition":{"type":"nag_completed","count":0}}"#)
            + wrong("IncentiveRuleUpdate", "condition.type", #"{"condition":{"type":"miss_streak_3","count":1}}"#)
            + wrong(
                "IncentiveRuleUpdate", "action.amount", #"{"action":{"type":"badge","amount":1001}}"#,
                #"{"action":{"type":"badge","amount":null}}"#, #"{"action":{"type":"badge"}}"#)
            + wrong("IncentiveRuleUpdate", "status", #"{"status":"superseded"}"#)
    }()

    @Test(
        "a request body is accepted, or refused by the field at fault, as the document says",
        arguments: auth + family + nags + policies + incentives + constraints + drafts + imports + rest + abuseReports
            + connections
            + outbox)
    func bodies(example: BodyCase) throws {
        let body = Array(example.body.utf8)
        let read = try #require(requestReaders[example.schema])
        let violations = document.check(try JSONValue(parsing: body), against: example.schema, .schema)
        do {
            let again = try read(body)
            #expect(example.field == nil)
            #expect(violations.isEmpty == example.isInDocument, "\(violations)")
            #expect(try read(again) == again)
        } catch let error as APIError {
            #expect(error.status == 422)
            #expect(error.code == .validationFailed)
            #expect(error.field ?? "" == example.field)
            #expect(violations.isEmpty != example.isInDocument)
        }
    }

    @Test("every request type has cases of its own")
    func coverage() {
        let described = Set(document.operations.compactMap(\.bodySchema))
        #expect(described == Set(requestReaders.keys))
        #expect(
            described
                == Set(
                    (Self.auth + Self.family + Self.nags + Self.policies + Self.incentives
                        + Self.constraints + Self.executions + Self.drafts + Self.imports + Self.rest
                        + Self.abuseReports + Self.connections
                        + Self.outbox)
                        .map(\.schema)))
    }
}

/// Reads a body as the type of that name and writes it again.
private let requestReaders: [String: @Sendable ([UInt8]) throws -> [UInt8]] = {
    var readers: [String: @Sendable ([UInt8]) throws -> [UInt8]] = [:]
    func add<Body: WireReadable & WireContent>(_: Body.Type, _ name: String = String(describing: Body.self)) {
        readers[name] = { bytes in try Body(content: bytes.span).content }
    }
    add(SignupRequest.self)
    add(AIKeyUpdate.self)
    add(LoginRequest.self)
    add(MeUpdate.self)
    add(PasswordChange.self)
    add(EmailChangeRequest.self)
    add(EmailChangeConfirmation.self)
    add(PhoneRequest.self)
    add(PhoneConfirmation.self)
    add(PasswordResetRequest.self)
    add(PasswordReset.self)
    add(RefreshRequest.self)
    add(ChildLoginRequest.self)
    add(PreferenceUpdate.self)
    add(FamilyCreate.self)
    add(FamilyUpdate.self)
    add(JoinRequest.self)
    add(CodeRenewal.self)
    add(MemberAdd.self)
    add(MemberCreateAndAdd.self)
    add(ChildCredentialsSet.self)
    add(PinChangeRequest.self)
    add(ChildSettingsUpdate.self)
    add(NagCreate.self)
    add(NagUpdate.self)
    add(NagStatusUpdate.self)
    add(ExcuseCreate.self)
    add(BlockCreate.self)
    add(DeviceTokenRegister.self)
    add(AbuseReportCreate.self)
    add(AccountCreate.self)
    add(ConnectionInvite.self)
    add(ConnectionTypeUpdate.self)
    add(AbuseReportReviewUpdate.self)
    add(AuditCheckOrder.self)
    add(FindingAcknowledgement.self)
    add(BlockUpdate.self)
    add(ConsentCreate.self)
    add(ConsentUpdate.self)
    add(PolicyUpdate.self)
    add(ApprovalCreate.self)
    add(IncentiveRuleCreate.self)
    add(IncentiveRuleUpdate.self)
    add(ConstraintCreate.self)
    add(ConstraintUpdate.self)
    add(ConstraintOrderUpdate.self)
    add(ConstraintSimulation.self)
    add(ConstraintDocument.self)
    add(ExcuseSummaryRequest.self)
    add(ToneSelectRequest.self)
    add(CoachingRequest.self)
    add(CoachQuestionRequest.self)
    add(PushBackRequest.self)
    add(AIEnvelope<ExecutionRequest>.self, "ExecutionRequest")
    add(ConfirmationReply.self)
    add(AISessionCreate.self)
    add(DraftCreate.self)
    add(DraftUpdate.self)
    add(DraftVersion.self)
    add(DraftApproval.self)
    add(DraftExecution.self)
    add(NagImport.self)
    add(ImportSelection.self)
    add(ImportApproval.self)
    add(ImportExecution.self)
    add(AISessionName.self)
    add(OutboxUpload.self)
    return readers
}()
