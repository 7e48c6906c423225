-- One workload for wrk: WORKLOAD=W1|W2|W3|W4 and BENCH_DATA=<folder with targets.txt and since.txt> in the environment.
-- With CLOSE set each request has a connection of its own. With STRICT set every answer's status is looked at (slower: for the warm-up); without, wrk itself counts those above 399.
-- Ends with one line of JSON for bench.py.
local workload, data = os.getenv("WORKLOAD"), os.getenv("BENCH_DATA")
local strict = os.getenv("STRICT")
if os.getenv("CLOSE") then wrk.headers["Connection"] = "close" end
local threads, requests, position = {}, {}, 0

local function shuffle(list)
  for i = #list, 2, -1 do
    local j = math.random(i)
    list[i], list[j] = list[j], list[i]
  end
end

function setup(thread)
  threads[#threads + 1] = thread
  thread:set("seed", #threads)
end

function init()
  math.randomseed(os.time() * 7 + seed)
  wrong = 0
  if workload == "W1" then
    requests[1] = wrk.format("GET", "/api/v1/version")
    return
  end
  local since = io.open(data .. "/since.txt"):read("*l")
  for line in io.lines(data .. "/targets.txt") do
    local token, family, nags = line:match("^(%S+) (%S+) (%S+)$")
    local headers = { Authorization = "Bearer " .. token, Connection = wrk.headers["Connection"] }
    if workload == "W2" then
      headers["Content-Type"] = "application/json"
      for nag in nags:gmatch("[^,]+") do
        requests[#requests + 1] = wrk.format("POST", "/api/v1/ai/select-tone", headers, '{"nag_id": "' .. nag .. '"}')
      end
    else
      local path = "/api/v1/sync/events?family_id=" .. family
      if workload == "W3" then path = path .. "&since=" .. since end
      requests[#requests + 1] = wrk.format("GET", path, headers)
    end
  end
  shuffle(requests)
end

function request()
  position = position % #requests + 1
  return requests[position]
end

if strict then
  function response(status)
    if status < 200 or status > 299 then wrong = wrong + 1 end
  end
end

function done(summary, latency)
  local bad = summary.errors.status
  if strict then
    bad = 0
    for _, thread in ipairs(threads) do bad = bad + thread:get("wrong") end
  end
  local e = summary.errors
  print(string.format(
    '\nJSON {"requests": %d, "seconds": %.6f, "bytes": %d, "p50_ms": %.3f, "p99_ms": %.3f, "non_2xx": %d, "socket_errors": %d}',
    summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    bad, e.connect + e.read + e.write + e.timeout))
end
