/// Every operation of the API, declared in `Wire/` and used by server and client.
public enum API {}
