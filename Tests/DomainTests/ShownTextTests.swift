import Domain
import Testing

@Suite("Texts of other people in one line")
struct ShownTextTests {
    @Test(
        "a shown text is one line without terminal commands and without reordering",
        arguments: [
            ("Please", "Please"), ("", ""),
            ("\u{1B}[2Jpills", " [2Jpills"), ("\u{1B}]0;owned\u{7}pills", " ]0;owned pills"),
            ("\u{9B}31mpills\u{9C}", " 31mpills "), ("a\u{8}\u{7F}b\u{0}c", "a  b c"), ("a\tb", "a b"),
            ("one\r\ntwo\nthree\rfour\n\rfive", "one two three four  five"), ("a\u{2028}b\u{2029}c\u{85}d", "a b c d"),
            ("\u{202E}sllip\u{202C} \u{2066}x\u{2069} \u{200F}y\u{61C}", "sllip x y"),
            ("e\u{301} 👨‍👩‍👧 می\u{200C}خواهم שלום 🇮🇱", "e\u{301} 👨‍👩‍👧 می\u{200C}خواهم שלום 🇮🇱"),
        ])
    func line(text: String, line: String) {
        #expect(Array(safeLine(text).unicodeScalars) == Array(line.unicodeScalars))
    }
}
