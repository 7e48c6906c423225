extension SQL {
    /// A part of a statement's text, in one machine word: every request combines and compares
    /// many of them.
    struct Piece: Hashable, Sendable {
        enum Kind: UInt {
            case literal
            /// A text that is no literal: the next element of `runtimeTexts`.
            case runtimeText
            /// The placeholder of the next value.
            case value
            /// A number that is written into the text.
            case number
            // The following kinds are for statements that `merged` merges.
            /// The place of the definition of the table `request`; empty in a single statement.
            case requestTable
            /// Text for merged statements only; empty in a single statement.
            case onlyMerged
            /// The column `value_n` of the table `request`, where n is the piece's number.
            case requestValue
        }

        /// The number of bits below the kind: for the address of a literal, or a number.
        private static let payloadBits = UInt.bitWidth - 8
        let word: UInt

        private init(_ kind: Kind, _ payload: UInt = 0) {
            precondition(payload >> Self.payloadBits == 0)
            word = kind.rawValue << Self.payloadBits | payload
        }

        static func literal(_ text: StaticString) -> Piece { Piece(.literal, unsafe UInt(bitPattern: text.utf8Start)) }
        static let runtimeText = Piece(.runtimeText)
        static func value(_ type: SQLType) -> Piece { Piece(.value, UInt(type.rawValue)) }
        /// - Precondition: `number` is not negative.
        static func number(_ number: Int) -> Piece { Piece(.number, UInt(number)) }
        static let requestTable = Piece(.requestTable)
        static func onlyMerged(_ text: StaticString) -> Piece {
            Piece(.onlyMerged, unsafe UInt(bitPattern: text.utf8Start))
        }
        static func requestValue(_ number: Int) -> Piece { Piece(.requestValue, UInt(number)) }

        var kind: Kind {
            guard let kind = Kind(rawValue: word >> Self.payloadBits) else { preconditionFailure("no kind of piece") }
            return kind
        }

        private var payload: UInt { word & (1 << Self.payloadBits - 1) }

        var number: Int { Int(payload) }

        /// The text of a literal, which lives as long as the program and ends with a zero.
        var text: String {
            guard let start = unsafe UnsafePointer<CChar>(bitPattern: payload) else { return "" }
            return unsafe String(cString: start)
        }

        /// The literal that replaces a piece of kind `onlyMerged` in a merged statement.
        var asLiteral: Piece { Piece(.literal, payload) }
    }
}
