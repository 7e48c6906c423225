/// Lets a test hold a handler until it says so.
actor Gate {
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var arrivals = 0
    private var arrivalWaiters: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        arrivals += 1
        for waiter in arrivalWaiters { waiter.resume() }
        arrivalWaiters = []
        if !isOpen { await withCheckedContinuation { waiters.append($0) } }
    }
    func open() {
        isOpen = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
    func arrived() async {
        if arrivals == 0 { await withCheckedContinuation { arrivalWaiters.append($0) } }
    }
}
