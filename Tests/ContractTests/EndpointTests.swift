import Contract
import Domain
import JSON
import Testing

@Suite("Endpoints and errors")
struct EndpointTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("a body may be missing only where the operation allows it")
    func optionalBody() throws {
        #expect(try API.logOut.decodeBody([UInt8]().span) == nil)
        #expect(try API.logOut.decodeBody(bytes(#"{"refresh_token":"r"}"#).span)?.refreshToken == Secret("r"))
        #expect(throws: APIError.self) { try API.logOut.decodeBody(bytes("{}").span) }
        let error = #expect(throws: APIError.self) { try API.logIn.decodeBody([UInt8]().span) }
        #expect(error?.status == 400)
    }

    @Test(
        "bytes that are no JSON are 400, and JSON of the wrong shape is 422",
        arguments: [
            ("{", 400, "MALFORMED_REQUEST"), ("{\"name\":\"a\",\"name\":\"b\"}", 400, "MALFORMED_REQUEST"),
            ("{\"name\":\"\\ud800\"}", 400, "MALFORMED_REQUEST"), ("[]", 422, "VALIDATION_ERROR"),
            ("{\"name\":1}", 422, "VALIDATION_ERROR"),
        ])
    func badBodies(text: String, status: Int, code: String) {
        let error = #expect(throws: APIError.self) { try API.createFamily.decodeBody(bytes(text).span) }
        #expect(error?.status == status)
        #expect(error?.code.rawValue == code)
    }

    @Test(
        "every error code has its HTTP status",
        arguments: [
            ("AUTHN_FAILED", 401), ("AUTHZ_DENIED", 403), ("POLICY_FORBIDDEN", 403),
            ("NOT_FOUND", 404), ("METHOD_NOT_ALLOWED", 405), ("CONFLICT", 409),
            ("PRECONDITION_FAILED", 412), ("PAYLOAD_TOO_LARGE", 413), ("MALFORMED_REQUEST", 400),
            ("UNSUPPORTED_MEDIA_TYPE", 415),
            ("VALIDATION_ERROR", 422), ("POLICY_INVALID_VALUE", 422),
            ("RATE_LIMITED", 429), ("INTERNAL_ERROR", 500), ("UNAVAILABLE", 503),
        ])
    func statuses(code: String, status: Int) {
        #expect(ErrorCode(rawValue: code)?.status == status)
        #expect(ErrorCode.allCases.count == 15)
    }

    @Test("the error envelope reads back, with and without a field or a reason")
    func envelope() throws {
        let plain = ErrorEnvelope(APIError(.notFound, "There is no such nag."), requestID: "r-1")
        #expect(
            String(decoding: plain.content, as: UTF8.self)
                == #"{"error":{"code":"NOT_FOUND","message":"There is no such nag.","request_id":"r-1","details":null}}"#
        )
        #expect(try ErrorEnvelope(content: plain.content.span) == plain)
        let field = ErrorEnvelope(APIError(.validationFailed, "m", field: "due_at"), requestID: "r")
        #expect(try ErrorEnvelope(content: field.content.span) == field)
        let reason = ErrorEnvelope(APIError(.authorizationDenied, .guardianOnly), requestID: "r")
        #expect(String(decoding: reason.content, as: UTF8.self).hasSuffix(#""details":{"reason":"guardian_only"}}}"#))
        #expect(try ErrorEnvelope(content: reason.content.span) == reason)
    }

    @Test("an endpoint returns a 2xx response as its answer, and throws any other as an APIError")
    func answers() throws {
        let answer = try API.checkLiveness.decode(status: 200, body: bytes(#"{"status":"ok","more":1}"#).span)
        #expect(answer.status == "ok")
        let envelope = ErrorEnvelope(APIError(.rateLimited, "Slow down."), requestID: "r")
        let limited = #expect(throws: APIError.self) {
            try API.checkLiveness.decode(status: 429, body: envelope.content.span, retryAfter: 7)
        }
        #expect(limited == APIError(.rateLimited, "Slow down.", retryAfter: 7))
        let proxy = #expect(throws: APIError.self) {
            try API.checkLiveness.decode(status: 503, body: bytes("<html>").span)
        }
        #expect(proxy?.code == .unavailable)
        let broken = #expect(throws: APIError.self) {
            try API.getLeaderboard.decode(
                status: 200,
                body: bytes(
                    #"{"family_id":"018f3c1e-0a52-7c3d-9b61-2f4e5d6c7b8a","period_start":"2026-01-01T00:00:00Z","leaderboard":[{"user_id":"x"}]}"#
                ).span)
        }
        #expect(broken?.status == 502)
        #expect(broken?.message.contains("leaderboard[0].user_id") == true)
        #expect(try API.logOut.decode(status: 204, body: [UInt8]().span) == NoAnswer())
    }

    @Test("answers keep what public clients rely on beyond the document")
    func clientFacts() throws {
        let version = String(decoding: VersionResponse(serverVersion: "0.1.0").content, as: UTF8.self)
        #expect(
            version
                == #"{"server_version":"0.1.0","api_version":"1.0.0","min_client_version":"1.0.0","serverVersion":"0.1.0","apiVersion":"1.0.0","minClientVersion":"1.0.0"}"#
        )
        let consent = ConsentResponse(id: Sample.id(1), userID: Sample.id(2), familyID: nil, type: .smsOptIn)
        #expect(try JSONValue(parsing: consent.content)["family_id_nullable"] == .null)
        #expect(API.changePIN.operation.successStatus == 200)
        let withoutContent = API.all.filter { $0.successStatus == 204 }.map(\.id)
        #expect(
            withoutContent == [
                "logOut", "resetPassword", "changePassword", "deletePhone", "endSession", "endOtherSessions",
                "deleteDevice",
                "deleteConstraint", "deleteExecution", "endAISession", "deleteAIKey",
            ])
    }

    @Test("every operation has the tier of its rate limit")
    func tiers() {
        #expect(
            API.all.filter { $0.tier == .frequentWrite }.map(\.id) == [
                "updateNagStatus", "submitExcuse", "recomputeEscalation", "createAttachment", "uploadEvents",
            ])
        #expect(
            API.all.filter { $0.tier == .auth }.map(\.id) == [
                "signUp", "logIn", "childLogIn", "requestPasswordReset", "resetPassword", "changePassword",
                "requestEmailChange", "confirmEmailChange", "requestPhone", "confirmPhone",
            ])
        #expect(API.all.filter { $0.tier == .thirdParty }.map(\.id) == ["setAIKey", "checkAIKey"])
        #expect(API.refreshSession.operation.tier == .write)
        #expect(
            Set(API.all.filter { $0.tier == .exempt && $0.tag != .operations }.map(\.id)) == [
                "getVersion", "getPrivacyPolicy", "getTermsOfService", "listAuditKinds",
            ])
        for operation in API.all where operation.method == .get && operation.tier != .exempt {
            let isOfNag = operation.path.hasPrefix("/api/v1/nags/{nag_id}/") || operation.id == "getAttachment"
            #expect(operation.tier == (isOfNag ? .nagDetail : .read), "\(operation.id)")
        }
        #expect(API.listExcuses.operation.tier == .nagDetail && API.getNag.operation.tier == .read)
    }
}
