/// The prompts for models in one language, and the words for checking answers, parsed from pool files.
public struct PromptBook: Sendable {
    private var systemPrompts: [ModelTask: Template<PromptSlot>] = [:]
    private var userPrompts: [ModelTask: Template<PromptSlot>] = [:]
    /// The characters outside ASCII that an answer may have.
    private(set) var allowedNonASCIICharacters: Set<Unicode.Scalar> = []
    /// Words that have a capital letter within a sentence and are no names, such as “I”, in lower case.
    private(set) var capitalizedNonNames: Set<String> = []
    /// The phrases that make each claim.
    private(set) var claimPhrases = PhraseMatcher<Claim>()
    /// The words for proving answers.
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
    /// - Parameter vocabulary: the words for proving answers; nil allows only the rules' own words.
    public init(parsing bytes: [UInt8], vocabulary: Vocabulary? = nil) throws(PoolError) {
        self.vocabulary = vocabulary ?? Vocabulary()
        var (systemLines, userLines): (PromptLines, PromptLines) = ([:], [:])
        var parsedClaims: Set<Claim> = []
        try PoolLine.read(bytes, maxTextLength: 1_000) { line throws(PoolProblem) in
            switch line.words.first {
            case "system": try Self.append(line, to: &systemLines)
            case "user": try Self.append(line, to: &userLines)
            case "characters" where line.words.count == 1:
                allowedNonASCIICharacters.formUnion(line.text.unicodeScalars.lazy.filter { !$0.isASCII })
            case "capital" where line.words.count == 1:
                capitalizedNonNames.formUnion(words(in: line.text).map(\.text))
            case "claim":
                let claim: Claim = try line.onlyKey()
                guard claimPhrases.add(line.text, as: claim) else { throw PoolProblem("no word in it") }
                parsedClaims.insert(claim)
            default: throw PoolProblem("unknown key")
            }
        }
        for claim in Claim.allCases where !parsedClaims.contains(claim) {
            throw PoolError(line: nil, problem: "too few entries: claim \(claim.rawValue)")
        }
        for task in ModelTask.allCases {
            systemPrompts[task] = try Self.template(systemLines[task], task, "system")
            userPrompts[task] = try Self.template(userLines[task], task, "user")
            let requiredSlots: Set<PromptSlot> = task.slots.intersection([.text, .draft])
            guard let user = userPrompts[task], requiredSlots.isSubset(of: user.slots) else {
                throw PoolError(line: userLines[task]?.number, problem: "user \(task.rawValue) leaves out its text")
            }
        }
    }

    /// Creates the request with the prompt for the facts. If prompt and answer would exceed the model's context, the
    /// person's words are cut.
    public func request(
        for facts: PromptFacts, contextTokens: Int, traceparent: String? = nil
    ) -> ModelRequest {
        var values = facts.values
        let words = values[.text] ?? ""
        values[.text] = ""
        var request = request(facts, values, traceparent)
        // The estimate rounds up for each of the two texts, so two tokens are subtracted.
        let availableBytes = 4 * (contextTokens - request.maxTokens - request.estimatedPromptTokens - 2)
        guard !words.isEmpty, availableBytes > 0 else { return request }
        values[.text] = Self.prefix(of: words, maxBytes: availableBytes)
        request = self.request(facts, values, traceparent)
        return request
    }

    private func request(
        _ facts: PromptFacts, _ values: [PromptSlot: String], _ traceparent: String?
    ) -> ModelRequest {
        ModelRequest(
            task: facts.task, systemPrompt: systemPrompts[facts.task]?.filled(values) ?? "",
            userPrompt: userPrompts[facts.task]?.filled(values) ?? "", schema: facts.schema, traceparent: traceparent)
    }

    /// Returns the first Characters that together have at most `maxBytes` bytes.
    private static func prefix(of text: String, maxBytes: Int) -> String {
        var (prefix, byteCount) = ("", 0)
        for character in text {
            byteCount += character.utf8.count
            if byteCount > maxBytes { break }
            prefix.append(character)
        }
        return prefix
    }

    // MARK: Parsing

    /// The texts of the lines of each prompt, and the number of its first line in the file.
    private typealias PromptLines = [ModelTask: (number: Int, texts: [String])]

    private static func append(_ line: PoolLine, to lines: inout PromptLines) throws(PoolProblem) {
        let task: ModelTask = try line.onlyKey()
        // The line is parsed here, so that an error gets its number.
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
    /// Returns the key of a line in which one word is before the key and none after it.
    fileprivate func onlyKey<Key: RawRepresentable<String>>() throws(PoolProblem) -> Key {
        guard words.count == 2 else { throw PoolProblem("\(words[0]) takes 1 key") }
        guard let key = Key(rawValue: String(words[1])) else { throw PoolProblem("unknown \(words[1])") }
        return key
    }
}
