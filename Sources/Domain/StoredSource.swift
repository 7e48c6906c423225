/// The origin of a stored input: a closed set that the schema checks.
public enum StoredSource: String, Sendable, CaseIterable {
    case text, voice
    case cameraText = "camera_ocr"
    case galleryText = "gallery_ocr"
    case document, habit, legacy, onboarding
    /// The system's own conclusions, never an input of a person.
    case system
}
