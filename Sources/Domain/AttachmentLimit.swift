/// The limits on pictures.
public enum AttachmentLimit {
    /// Bytes of one picture.
    public static let size = 10 << 20
    /// Bytes of one person's pictures that no nag uses yet.
    public static let unusedBytes = 50 << 20
    /// Pictures of one nag.
    public static let perNag = 8
    /// The time in which a nag may use a picture after its upload.
    public static let usableTime = Timestamp.Span.hours(24)
}
