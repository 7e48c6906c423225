/// The prompts for models, and the words by which an answer in that language is checked, parsed from a pool file.
public struct PromptBook: Sendable {
    private var systems: [ModelTask: Template<PromptSlot>] = [:]
    private var users: [ModelTask: Template<PromptSlot>] = [:]
    /// The characters outside ASCII that an answer may have.
    private(set) var characters: Set<Unicode.Scalar> = []
    /// Words that are written with a capital letter within a sentence and are no names, in lower case.
    private(set) var capitalWords: Set<String> = []
    /// The words that make a claim.
    private(set) var claims = PhraseMatcher<Claim>()
    /// The words with which answers are proven.
    let vocabulary: Vocabulary

    /// The English prompts, embedded in the program and parsed at the first call.
    public static func english() throws(PoolError) -> PromptBook { try parsedEnglish.get() }

    private static let parsedEnglish = Result { () throws(PoolError) in
        try PromptBook(parsing: PackageResources.english_prompts, vocabulary: .english())
    }

    /// Parses a pool file. Several lines of one prompt are joined with line breaks.
    ///
    /// These are errors: an unknown key, a placeholder that the operation does not have, a prompt that is missing, an
    /// operation whose prompts leave out the person's words or the rules' text, and a claim without a phrase.
    ///
    /// - Parameter vocabulary: without one, only the rules' own words are shown.
    public init(parsing bytes: [UInt8], vocabulary: Vocabulary? = nil) throws(PoolError) {
        self.vocabulary = vocabulary ?? Vocabulary()
        var (systems, users): (PromptLines, PromptLines) = ([:], [:])
        var claimed: Set<Claim> = []
        try PoolLine.read(bytes, longestText: 1_000) { line throws(PoolProblem) in
            switch line.words.first {
            case "system": try Self.append(line, to: &systems)
            case "user": try Self.append(line, to: &users)
            case "characters" where line.words.count == 1:
                characters.formUnion(line.text.unicodeScalars.lazy.filter { !$0.isASCII })
            case "capital" where line.words.count == 1:
                capitalWords.formUnion(words(in: line.text).map(\.text))
            case "claim":
                let claim: Claim = try line.onlyKey()
                guard claims.add(line.text, as: claim) else { throw PoolProblem("no word in it") }
                claimed.insert(claim)
            default: throw PoolProblem("unknown key")
            }
        }
        for claim in Claim.allCases where !claimed.contains(claim) {
            throw PoolError(line: nil, problem: "too few entries: claim \(claim.rawValue)")
        }
        for task in ModelTask.allCases {
            self.systems[task] = try Self.template(systems[task], task, "system")
            self.users[task] = try Self.template(users[task], task, "user")
            let needed: Set<PromptSlot> = task.slots.intersection([.text, .draft])
            guard let user = self.users[task], needed.isSubset(of: user.slots) else {
                throw PoolError(line: users[task]?.number, problem: "user \(task.rawValue) leaves out its text")
            }
        }
    }

    /// Creates the request for a prompt with the facts. The person's words are cut if prompt and answer would exceed
    /// the model's context.
    public func request(
        for facts: PromptFacts, contextTokens: Int, traceparent: String? = nil
    ) -> ModelRequest {
        var values = facts.values
        let words = values[.text] ?? ""
        values[.text] = ""
        var request = request(facts, values, traceparent)
        // A quarter of each text's bytes, rounded up: two tokens of the room may be lost to rounding.
        let room = 4 * (contextTokens - request.maxTokens - request.promptTokens - 2)
        guard !words.isEmpty, room > 0 else { return request }
        values[.text] = Self.prefix(of: words, bytes: room)
        request = self.request(facts, values, traceparent)
        return request
    }

    private func request(
        _ facts: PromptFacts, _ values: [PromptSlot: String], _ traceparent: String?
    ) -> ModelRequest {
        ModelRequest(
            task: facts.task, system: systems[facts.task]?.filled(values) ?? "",
            user: users[facts.task]?.filled(values) ?? "", schema: facts.schema, traceparent: traceparent)
    }

    /// The first Characters that have at most so many bytes.
    private static func prefix(of text: String, bytes: Int) -> String {
        var (short, count) = ("", 0)
        for character in text {
            count += character.utf8.count
            if count > bytes { break }
            short.append(character)
        }
        return short
    }

    // MARK: Parsing

    /// The lines of prompts, with the number of each prompt's first one.
    private typealias PromptLines = [ModelTask: (number: Int, texts: [String])]

    private static func append(_ line: PoolLine, to lines: inout PromptLines) throws(PoolProblem) {
        let task: ModelTask = try line.onlyKey()
        // Here, so that an error gets the number of this line.
        _ = try Template(line.text, allowing: task.slots)
        lines[task, default: (line.number, [])].texts.append(line.text)
    }

    private static func template(
        _ lines: (number: Int, texts: [String])?, _ task: ModelTask, _ role: String
    ) throws(PoolError) -> Template<PromptSlot> {
        guard let lines else { throw PoolError(line: nil, problem: "too few entries: \(role) \(task.rawValue)") }
        do throws(PoolProblem) {
            return try Template(lines.texts.joined(separator: "\n"), allowing: task.slots)
        } catch {
            throw PoolError(line: lines.number, problem: error.text)
        }
    }
}

extension PoolLine {
    /// The key of a line that has one word before it and none after it.
    fileprivate func onlyKey<Key: RawRepresentable<String>>() throws(PoolProblem) -> Key {
        guard words.count == 2 else { throw PoolProblem("\(words[0]) takes 1 key") }
        guard let key = Key(rawValue: String(words[1])) else { throw PoolProblem("unknown \(words[1])") }
        return key
    }
}
