import Domain
import NagzAI
import Testing

@Suite struct ExcuseTests {
    private func categorise(_ text: String) throws -> ExcuseSummaryResponse {
        try heuristics().excuseSummary(of: text, nagID: nagID).response
    }

    static let categoryCases: [(String, ExcuseCategory, Double)] = [
        ("I forgot.", .forgot, 0.9), ("FORGOTTEN!", .forgot, 0.9), ("could not remember it", .forgot, 0.9),
        ("I remembered too late", .forgot, 0.6), ("it slipped my mind", .forgot, 0.9),
        ("it slipped\n  my\u{00A0}\tmind", .forgot, 0.9), ("slipped. My mind", .other, 0.3),
        ("slipped my kind", .other, 0.3), ("my mind slipped", .other, 0.3), ("it slipped my", .other, 0.3),
        ("I was busy", .timeConflict, 0.9), ("sometimes", .other, 0.3), ("no time", .timeConflict, 0.6),
        ("the meeting\u{2019}s over", .timeConflict, 0.9), ("lateness", .other, 0.3), ("time-out", .timeConflict, 0.9),
        ("I don't understand", .unclearInstructions, 0.9), ("I don\u{2019}t understand", .unclearInstructions, 0.9),
        ("I don\u{02BC}t  understand", .unclearInstructions, 0.9),
        ("I DIDN\u{FF07}T UNDERSTAND", .unclearInstructions, 0.9),
        ("I do not understand", .unclearInstructions, 0.9), ("not sure how", .unclearInstructions, 0.9),
        ("not sure, how", .other, 0.3), ("confusingly", .other, 0.3),
        ("I don't have soap", .lackingResources, 0.9), ("we ran out", .lackingResources, 0.9),
        ("we ran\r\nout of soap", .lackingResources, 0.9), ("needless", .other, 0.3),
        ("needed", .lackingResources, 0.9),
        ("No", .refused, 0.9), ("no!", .refused, 0.9), ("'no'", .refused, 0.9), ("\u{201C}no\u{201D}", .refused, 0.9),
        ("I know", .other, 0.3), ("nothing", .other, 0.3), ("note", .other, 0.3), ("piano", .other, 0.3),
        ("no1", .other, 0.3), ("I won\u{2018}t", .refused, 0.9), ("I wont", .refused, 0.9),
        ("I will not", .refused, 0.9), ("will, not", .other, 0.3),
        ("not doing it", .refused, 0.9), ("don't want to", .refused, 0.9), ("I don't", .other, 0.3),
        ("I forgot, and no, I don't have time", .forgot, 0.6), ("busy busy late", .timeConflict, 0.9),
        ("forgot forgot", .forgot, 0.9), ("", .other, 0.3), (" \n\t ", .other, 0.3), ("…", .other, 0.3),
    ]

    /// An n't as it is written, without its apostrophe, and as "not".
    static let contractionCases = [
        ("don't", ["don’t", "dont", "do not", "DO NOT"]), ("didn't", ["didnt", "did not"]),
        ("can't", ["can’t", "cant", "cannot", "can not"]), ("couldn't", ["couldnt", "could not"]),
    ]

    @Test("an n't matches with and without its apostrophe and as “not”", arguments: contractionCases)
    func contractions(_ word: String, _ forms: [String]) throws {
        for form in [word] + forms {
            #expect(try categorise("I \(form) understand it").category == .unclearInstructions, "\(form)")
        }
        guard ["don't", "didn't"].contains(word) else { return }
        for form in [word] + forms {
            #expect(try categorise("we \(form)  have soap").category == .lackingResources, "\(form)")
        }
        for form in word == "don't" ? [word] + forms : [] {
            #expect(try categorise("I \(form) want to").category == .refused, "\(form)")
        }
    }

    @Test("the words of an excuse give its category and confidence", arguments: categoryCases)
    func category(_ text: String, _ category: ExcuseCategory, _ confidence: Double) throws {
        let response = try categorise(text)
        #expect(response.category == category)
        #expect(response.confidence == confidence)
    }

    static let unicodeCases: [(String, ExcuseCategory)] = [
        // An accent makes another word, whichever way it is typed.
        ("n\u{00F3}", .other), ("no\u{0301}", .other), ("nosotros", .other), ("\u{043D}\u{043E}", .other),
        // A Kelvin sign is canonically a K; none of the words has one, and lower-casing must not trip over it.
        ("\u{212A}now", .other), ("I\u{0307}stanbul", .other), ("\u{0130}", .other), ("\u{0130} FORGOT", .forgot),
        ("\u{1F1E9}\u{1F1EA} no \u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", .refused), ("☎️no☎️", .refused),
        ("忘れた no", .refused), ("忘れたno", .other), ("for\u{00AD}got", .forgot), ("no\u{200B}way", .refused),
        ("\u{0301}no", .refused), ("\u{0}no\u{0}", .refused), ("nо", .other),
        ("n\u{200D}o", .refused), ("ﬁrst", .other), ("NO\u{FE0F}", .refused),
    ]

    @Test("an excuse with any Unicode text gets its category", arguments: unicodeCases)
    func unicode(_ text: String, _ category: ExcuseCategory) throws {
        #expect(try categorise(text).category == category)
    }

    @Test func theFirst200CharactersStayWhole() throws {
        let family = "👨‍👩‍👧‍👦"
        #expect(try categorise(String(repeating: "a", count: 201)).summary == String(repeating: "a", count: 200))
        #expect(try categorise(String(repeating: "a", count: 200)).summary.count == 200)
        let atTheEdge = String(repeating: "a", count: 199) + family + family
        #expect(try categorise(atTheEdge).summary == String(repeating: "a", count: 199) + family)
        let families = String(repeating: family, count: 201)
        #expect(try categorise(families).summary == String(repeating: family, count: 200))
        let accents = String(repeating: "e\u{0301}", count: 250)
        #expect(try categorise(accents).summary == String(repeating: "\u{00E9}", count: 200))
        #expect(try categorise(String(repeating: "🏴󠁧󠁢󠁳󠁣󠁴󠁿", count: 300)).summary.count == 200)
        #expect(try categorise("  \n I forgot \u{3000}").summary == "I forgot")
        #expect(try categorise("\r\n \t").summary == "")
    }

    @Test func aHugeCharacterIsCutToItsFirstScalars() throws {
        let tower = "a" + String(repeating: "\u{0301}", count: 1_999)
        let summary = try categorise(tower).summary
        #expect(summary == "a" + String(repeating: "\u{0301}", count: 31))
        let chain = Array(repeating: "👨", count: 900).joined(separator: "\u{200D}")
        let cut = try categorise(chain + "b").summary
        #expect(cut.utf8.count <= 64)
        #expect(cut.unicodeScalars.last != "\u{200D}")
        let worst = String(repeating: tower, count: 300)
        #expect(try categorise(worst).summary.utf8.count <= 12_800)
        #expect(try categorise(worst).summary.count <= 200)
    }

    static let hostileCases: [String] = [
        String(repeating: "not ", count: 500), String(repeating: "don't ", count: 333),
        String(repeating: "'", count: 2_000), String(repeating: "a'", count: 1_000),
        String(repeating: "n", count: 2_000),
        String(repeating: "\u{0301}", count: 2_000), String(repeating: "\u{200D}", count: 2_000),
        String(repeating: "\u{1F1E6}", count: 2_000), String(repeating: "\u{FFFF}", count: 2_000),
        String(repeating: " ", count: 1_999) + "x", String(repeating: "\u{FDFA}", count: 2_000),
        String(repeating: "not sure slipped my ", count: 100), String(repeating: "\u{1100}", count: 2_000),
    ]

    @Test("hostile excuses take little time", arguments: hostileCases)
    func hostile(_ text: String) throws {
        let rules = try heuristics()
        let clock = ContinuousClock()
        let elapsed = clock.measure { for _ in 0..<10 { _ = rules.excuseSummary(of: text, nagID: nagID) } }
        // Ten times, in a debug build, on a busy machine: quadratic work would take minutes.
        #expect(elapsed < .seconds(10))
    }

    @Test func rulesAreNamed() throws {
        #expect(try heuristics().excuseSummary(of: "no", nagID: nagID).rule == .excuseOneCategory)
        #expect(try heuristics().excuseSummary(of: "no time", nagID: nagID).rule == .excuseSeveralCategories)
        #expect(try heuristics().excuseSummary(of: "hm", nagID: nagID).rule == .excuseNoCategory)
    }
}
