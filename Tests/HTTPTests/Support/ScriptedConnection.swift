import Reactor

@testable import HTTP

/// A connection without a socket: the same rules, routes and writer as the driver's, immediate routes only.
struct ScriptedConnection {
    var state: HTTPConnectionState
    let application: Application
    let limits: Limits
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private(set) var output: [UInt8] = []
    private var pending: (RequestHead, Application.RouteDecision)?
    private let deflater = Deflater()
    private var identifiers = IdentifierSource(seed: 1, stream: 2)

    init(_ application: Application, limits: Limits = Limits()) {
        self.application = application
        self.limits = limits
        state = HTTPConnectionState(limits: limits, now: now)
    }

    mutating func receive(_ input: [UInt8]) {
        var position = 0
        while true {
            let event = state.take(input.span, at: &position, now: now)
            if case .needsInput = event { return }
            handle(event)
            if state.isClosed { return }
        }
    }

    mutating func endInput() { handle(state.inputEnded(now: now)) }
    mutating func expire() { handle(state.expire(now: now)) }

    mutating func handle(_ event: HTTPConnectionState.Event) {
        switch event {
        case .needsInput, .close: break
        case .fault(let fault):
            let origin =
                if let head = pending?.0 { head.headers["origin"] } else {
                    state.originOfRefused ?? application.cors?.soleOrigin
                }
            answer(application.refuse(fault, origin: origin, RequestID(high: 0, low: 0)), nil)
        case .head(let head):
            let plan = application.plan(head)
            if case .none(let allowed) = plan, head.expectsContinue || head.announcesContent {
                let request = makeRequest(head, [], route: nil)
                return answer(application.answerWithoutRoute(request, allowed: allowed), request, mayPersist: false)
            }
            pending = (head, plan)
            var limit = limits.body
            if case .route(let route) = plan, let own = route.bodyLimit { limit = own }
            if let fault = state.admitBody(upTo: limit) { handle(.fault(fault)) }
        case .request(let body):
            guard let (head, plan) = pending else { return }
            var route: Route?
            if case .route(let matched) = plan { route = matched }
            let request = makeRequest(head, body, route: route)
            var response: Response
            switch plan {
            case .none(let allowed): response = application.answerWithoutRoute(request, allowed: allowed)
            case .route(let route):
                guard case .immediate(let make) = route.answer else { fatalError("immediate routes only") }
                response = make(request)
            }
            application.finish(&response, for: request, with: deflater)
            answer(response, request)
        }
    }

    private mutating func makeRequest(_ head: RequestHead, _ body: [UInt8], route: Route?) -> Request {
        Request(
            head: head, body: body, remote: .loopback, id: identifiers.requestID(),
            trace: identifiers.trace(continuing: nil), route: route)
    }

    private mutating func answer(_ response: Response, _ request: Request?, mayPersist: Bool = true) {
        let persists = mayPersist && request.map { state.persists(after: $0.head) } ?? false
        var date = DateLine()
        date.refresh(0)
        ResponseHeadWriter.append(
            response, id: request?.id,
            framing: response.status.forbidsContent ? .none : .length(response.byteCount),
            persistence: persists ? .usual : .close, date: date, to: &output)
        if case .bytes(let bytes) = response.body, request?.method != .head { output += bytes }
        state.queued(1, now: now)
        state.answered(persists: persists, now: now)
        state.wrote(1, now: now)
    }
}
