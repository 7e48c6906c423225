/// The limits on pictures.
public enum AttachmentLimit {
    /// The maximum size of one picture, in bytes.
    public static let maxBytes = 10 << 20
    /// The maximum total size of one person's pictures that no nag uses yet, in bytes.
    public static let maxUnusedBytesPerPerson = 50 << 20
    /// The maximum number of pictures of one nag.
    public static let maxPerNag = 8
    /// The time after the upload of a picture within which a nag may use it.
    public static let usableTimeAfterUpload = Timestamp.Span.hours(24)
}
