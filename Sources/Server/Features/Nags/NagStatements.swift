import Domain
import SQL

/// Every statement on nags, their events and excuses.
enum NagStatements {}
