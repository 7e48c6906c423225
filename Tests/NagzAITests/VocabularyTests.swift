import Domain
import Testing

@testable import NagzAI

@Suite("Vocabulary")
struct VocabularyTests {
    private static func load(_ line: String) throws(PoolError) -> Vocabulary {
        try Vocabulary(parsing: Array("plain | the\n\(line)".utf8))
    }

    @Test(
        "the error of a faulty line of a vocabulary has the problem",
        arguments: [
            ("courtesy loud | hi", "unknown loud"), ("courtesy | hi", "unknown key"), ("shout | hi", "unknown key"),
            ("plain | ...", "no word in it"), ("never | ...", "no word in it"), ("same | hi", "unknown key"),
        ])
    func fault(line: String, problem: String) {
        #expect {
            try Self.load(line)
        } throws: { error in
            (error as? PoolError) == PoolError(line: 2, problem: problem)
        }
    }

    @Test("English has words of every group, courtesy in every tone, and no word that is both plain and guarded")
    func english() throws {
        let vocabulary = try Vocabulary.english()
        for word in ["no", "not", "never", "if", "later", "twice", "all", "tomorrow"] {
            #expect(vocabulary.isGuarded(word) && !vocabulary.has(word, in: .plain), "\(word)")
        }
        for phrase in ["please", "thank you", "hello"] {
            #expect(vocabulary.courtesyPhrases(.firm).match(phrase.split(separator: " ").map(String.init)[...]) != nil)
        }
        #expect(vocabulary.courtesyPhrases(.supportive).match(["you", "can", "do", "this"]) != nil)
        #expect(vocabulary.courtesyPhrases(.firm).match(["you", "can", "do", "this"]) == nil)
    }

    @Test(
        "forms of a word have one stem, and other words have others",
        arguments: [
            (["refuse", "refuses", "refused", "refusing"], true), (["plan", "plans", "planned", "planning"], true),
            (["miss", "misses", "missed", "missing"], true), (["try", "tries"], true), (["forgot", "forgets"], true),
            (["need", "needle"], false), (["late", "later"], false), (["help", "helpless"], false),
        ])
    func stems(words: [String], areOne: Bool) throws {
        let vocabulary = try Vocabulary.english()
        #expect((Set(words.map(vocabulary.stem)).count == 1) == areOne)
    }
}
