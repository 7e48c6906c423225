import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server

extension TestServer {
    func report(
        _ target: TestPerson, _ reason: String = "canary: rude words", as person: TestPerson
    ) async throws -> AbuseReportResponse {
        try await call(API.createAbuseReport, AbuseReportCreate(targetID: target.id, reason: reason), as: person)
    }

    func read(_ report: AbuseReportResponse, as person: TestPerson) async throws -> AbuseReportResponse {
        try await call(API.getAbuseReport, AbuseReportPath(reportID: report.id), as: person)
    }
}
