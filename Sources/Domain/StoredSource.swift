/// The origin of a stored input: a closed set that the schema checks.
public enum StoredSource: String, Sendable, CaseIterable {
    /// `text` was typed.
    case text, voice
    case cameraText = "camera_ocr"
    case galleryText = "gallery_ocr"
    /// `habit` and `onboarding`: the words were entered in that part of a client. `legacy`: they were imported from
    /// another program.
    case document, habit, legacy, onboarding
    /// The system's own conclusions, never an input of a person.
    case system
}
