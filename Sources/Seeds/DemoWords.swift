import Domain
import Server

/// The texts that the people of the demo family write.
enum DemoWords {
    static let excuses: [ExcuseCategory: [String]] = [
        .forgot: ["Sorry, I forgot.", "It slipped my mind until bedtime.", "I only remembered in the bus."],
        .timeConflict: [
            "My meeting ran over by an hour.", "Too busy at work today, tonight instead.",
            "The dentist moved our appointment, the whole schedule slipped.",
        ],
        .unclearInstructions: [
            "I don't understand question four.", "The worksheet is confusing.", "I was not sure how much to give her.",
        ],
        .lackingResources: [
            "We ran out of bin bags.", "My calculator is missing.", "I need the blue folder, it is at school.",
        ],
        .refused: ["No, it is Maya's turn.", "I won't touch the litter box again.", "I refuse to wear that shirt."],
        .other: [
            "The bus broke down.", "My stomach hurts.", "It was raining too hard.", "Grandpa and I went fishing.",
        ],
    ]

    static let completionNotes = [
        "Done, all of it.", "Finished, it is in the bag.", "Page 42 and 43.", "Took ten minutes.", "Checked twice.",
    ]

    static let birthdayTasks = [
        "Order the cake", "Blow up the balloons", "Hide the presents", "Write a card for Daniel",
        "Find the good candles",
        "Iron the tablecloth", "Invite the neighbours", "Charge the camera",
    ]
}
