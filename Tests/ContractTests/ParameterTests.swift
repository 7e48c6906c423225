import Contract
import Domain
import Testing

@Suite("Parameters")
struct ParameterTests {
    private let id = "018f3c1e-0a52-7c3d-9b61-2f4e5d6c7b8a"

    @Test(
        "limit and offset of a page are clamped to their bounds",
        arguments: [
            (nil, nil, 200, 0), ("1", "0", 1, 0), ("200", "7", 200, 7), ("0", nil, 1, 0), ("-5", nil, 1, 0),
            ("201", nil, 200, 0), ("99999999999999999999999", nil, 200, 0), ("-99999999999999999999999", nil, 1, 0),
            ("007", nil, 7, 0), (nil, "2147483647", 200, 2_147_483_647), (nil, "2147483648", 200, 2_147_483_647),
            (nil, "99999999999999999999", 200, 2_147_483_647), (nil, "-1", 200, 0), ("0", "-5", 1, 0),
        ] as [(String?, String?, Int, Int)])
    func pages(limit: String?, offset: String?, expectedLimit: Int, expectedOffset: Int) throws {
        let page = try PageRequest(reader(("limit", limit), ("offset", offset)))
        #expect(page == PageRequest(limit: expectedLimit, offset: expectedOffset))
        #expect(page.limit == expectedLimit && page.offset == expectedOffset)
    }

    @Test("a feed's since of 0 means from the beginning", arguments: ["0", "2026-03-10T15:00:00Z"])
    func since(value: String) throws {
        let query = try API.syncEvents.decodeParameters(reader(("family_id", id), ("since", value)))
        #expect((query.since == nil) == (value == "0"))
        let error = #expect(throws: APIError.self) {
            try API.syncEvents.decodeParameters(reader(("family_id", id), ("since", "00")))
        }
        #expect(error?.field == "since")
    }

    @Test(
        "numbers in parameters are ASCII digits and nothing else",
        arguments: [
            ("limit", ""), ("limit", "ten"), ("limit", "+5"), ("limit", "-"), ("limit", "1.0"), ("limit", "0x5"),
            ("limit", "1e2"), ("limit", " 5"), ("limit", "٥"), ("offset", "x"),
            ("offset", "--1"), ("offset", "1e9"),
        ])
    func badNumbers(name: String, value: String) {
        let error = #expect(throws: InvalidInput.self) { try PageRequest(reader((name, value))) }
        #expect(error?.field == name)
    }

    @Test(
        "a bad list filter is refused by its name",
        arguments: [
            ("family_id", "x"), ("family_id", ""), ("connection_id", "018f3c1e0a527c3d9b612f4e5d6c7b8a"),
            ("state", "closed"),
            ("state", "Open"), ("exclude_dismissed", "yes"), ("exclude_dismissed", "True"), ("exclude_dismissed", ""),
        ])
    func badFilters(name: String, value: String) {
        let error = #expect(throws: APIError.self) { try API.listNags.decodeParameters(reader((name, value))) }
        #expect(error?.status == 422)
        #expect(error?.field == name)
    }

    @Test("a list without filters has none, and unknown parameters are ignored")
    func noFilters() throws {
        let query = try API.listNags.decodeParameters(reader(("other", "x"), ("other", "y")))
        #expect(query == NagListQuery())
    }

    @Test(
        "of an unknown name the most similar known one is suggested",
        arguments: [
            ("dryrun", "dry_run"), ("Dry-Run", "dry_run"), ("familyId", "family_id"), ("stat", "state"),
            ("recipent_id", "recipient_id"), ("mood", nil), ("", nil), ("x", nil),
            (String(repeating: "state", count: 20), nil),
        ] as [(String, String?)])
    func nearest(_ name: String, _ expected: String?) throws {
        let names = KnownNames()
        let reader = ParameterReader(query: [(name, "1")], names: names)
        for known in ["dry_run", "family_id", "state", "recipient_id"] {
            let _: String? = try reader.optionalQuery(known)
        }
        #expect(names.unknownNames.map(\.name) == [name] && names.unknownNames.first?.nearest == expected)
    }

    @Test("the message about an unknown name is short and encoded")
    func told() throws {
        let names = KnownNames()
        _ = try API.listNags.decodeParameters(
            ParameterReader(query: [("a\r\nb: c", "1"), (String(repeating: "é", count: 500), "1")], names: names))
        #expect(names.unknownNames.map(\.safeName.utf8.count) == [15, 64])
        #expect(names.unknownNames.first?.safeName == "a%0D%0Ab%3A%20c")
    }

    @Test("a parameter with two names may have either, or both with one value")
    func aliases() throws {
        for given in [[("state", "open")], [("status", "open")], [("state", "open"), ("status", "open")]] {
            let query = ParameterReader(query: given.map { (name: $0.0, value: $0.1) })
            #expect(try API.listNags.decodeParameters(query).status == .open)
        }
        let error = #expect(throws: APIError.self) {
            try API.listNags.decodeParameters(reader(("state", "open"), ("status", "missed")))
        }
        #expect(error?.status == 422 && error?.field == "status")
        let report = try API.getFamilyMetrics.decodeParameters(
            reader(("family_id", id), ("since", "2026-03-01T00:00:00Z"), ("until", "2026-03-02T00:00:00Z")))
        #expect(report.fromDate != nil && report.toDate != nil)
    }

    @Test("a filter that is given twice is refused by its name")
    func repeated() throws {
        let query = reader(("family_id", id), ("family_id", id))
        let error = #expect(throws: APIError.self) { try API.listNags.decodeParameters(query) }
        #expect(error?.field == "family_id")
    }

    @Test("a missing required parameter is refused by its name")
    func missing() {
        let error = #expect(throws: APIError.self) { try API.getLeaderboard.decodeParameters(ParameterReader()) }
        #expect(error?.field == "family_id")
        #expect(error?.message == "The family ID is required.")
    }

    @Test("an unknown state is refused with the list of allowed ones")
    func allowedValues() {
        let error = #expect(throws: APIError.self) { try API.listNags.decodeParameters(reader(("state", "x"))) }
        #expect(
            error?.message
                == "The state must be one of open, completed, missed, withdrawn, cancelled_relationship_change.")
    }

    @Test("ids are read in either case, dates with and without fraction")
    func accepted() throws {
        let query = try API.syncEvents.decodeParameters(
            reader(("family_id", id.uppercased()), ("since", "2026-02-03T04:05:06+00:00"), ("cursor", "a/b=")))
        #expect(query.familyID.description == id)
        #expect(query.since?.rfc3339 == "2026-02-03T04:05:06.000Z")
        #expect(query.cursor == "a/b=")
        #expect(throws: APIError.self) {
            try API.syncEvents.decodeParameters(reader(("family_id", id), ("cursor", "\0")))
        }
        #expect(throws: APIError.self) {
            try API.syncEvents.decodeParameters(reader(("family_id", id), ("since", "2026-02-03")))
        }
    }

    @Test("the audit query keeps its own default")
    func auditLimit() throws {
        #expect(try API.listAuditEvents.decodeParameters(ParameterReader()).limit == 50)
        #expect(try API.listAuditEvents.decodeParameters(reader(("limit", "999"))).limit == 200)
    }

    @Test("what a client prints, a server reads back")
    func printed() {
        let family = FamilyID(high: 1, low: 2)
        #expect(
            API.listMembers.target(FamilyMembersQuery(familyID: family, page: PageRequest(limit: 5)))
                == "/api/v1/families/\(family)/members?limit=5&offset=0")
        #expect(
            API.syncEvents.target(SyncQuery(familyID: family, since: .epoch, cursor: "a b&c=é/"))
                == "/api/v1/sync/events?family_id=\(family)&since=1970-01-01T00%3A00%3A00.000Z&cursor=a%20b%26c%3D%C3%A9%2F"
        )
        #expect(API.getVersion.request().target == "/api/v1/version")
    }

    private func reader(_ query: (String, String?)...) -> ParameterReader {
        ParameterReader(query: query.compactMap { name, value in value.map { (name, $0) } })
    }
}
