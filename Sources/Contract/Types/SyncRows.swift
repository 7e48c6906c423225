import Domain
import JSON

/// A change of points or streak in the feed.
public typealias SyncedGamificationEvent = GamificationEventResponse
