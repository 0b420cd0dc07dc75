-- Caps per key (R22). One set, sorted as text, holds all tickets that have a key: a key's tickets are counted, and its first that is parked
-- is found, in O(log n), and nothing is counted up and down. An entry is key:place:number:instance:ticket:permits, with place 1 for who
-- runs, 2 for the line, 3 for who is parked. A queue without caps has no such set, and pays for one comparison.
-- Uses what `open` made; after `settings`.
local count, put, standsAside, recallAll
-- Keys of which a ticket has left: the first one that is parked may enter the line.
local leftKeys = {}
local hasCaps = keyLimit < math.huge or keySizeLimit < math.huge
local begins = capped == 0 and hasCaps
if begins then capped = 1 end
if capped ~= 0 then
  -- How many tickets of a key stand from one place (and number) to before another.
  function count(key, from, to)
    return redis.call('ZLEXCOUNT', keyed, '[' .. key .. from, '(' .. key .. to)
  end
  -- A ticket is at this place now; without a place it has left.
  function put(member, place)
    local rest, key = string.match(member, '^(.*):([^:]*)$')
    if key == '' then return end
    redis.call('ZREM', keyed, key .. ':1:' .. rest, key .. ':2:' .. rest, key .. ':3:' .. rest)
    if place then
      redis.call('ZADD', keyed, 0, key .. place .. rest)
    else
      leftKeys[key] = true
    end
  end
  -- The head of the line is parked where a cap was lowered, or a rejoin has brought back more than it allows; and behind an older one of its
  -- key that is parked, which then comes first.
  function standsAside(key, member)
    local number = string.sub(member, 1, 16)
    if count(key, ':1:', ':2:') < keyLimit then
      if parkedCount == 0 or count(key, ':3:', ':3:' .. number) == 0 then return false end
      leftKeys[key] = true
    end
    parkedCount = parkedCount + redis.call('ZADD', parked, number, member)
    put(member, ':3:')
    return true
  end
  -- Bounded like everything (R3); what is left over is found by combing.
  local budget = 500
  function recallAll()
    for key in pairs(leftKeys) do
      leftKeys[key] = nil
      while parkedCount > 0 do
        local first = redis.call('ZRANGEBYLEX', keyed, '[' .. key .. ':3:', '(' .. key .. ':4:', 'LIMIT', 0, 1)[1]
        if not first then break end
        local rest = string.sub(first, #key + 4)
        local number = string.sub(rest, 1, 16)
        if count(key, ':1:', ':2:' .. number) >= keyLimit then break end
        if budget == 0 then
          comb, more = -1, 1
          break
        end
        budget = budget - 1
        local member = rest .. ':' .. key
        parkedCount = parkedCount - redis.call('ZREM', parked, member)
        waitingCount = waitingCount + redis.call('ZADD', waiting, number, member)
        put(member, ':2:')
      end
    end
  end
  -- Made anew with caps and with each epoch; who waits is found by combing the line and those that are parked.
  if begins or isNew or lossSeen then
    redis.call('UNLINK', keyed)
    redis.call('ZADD', keyed, 0, '~')
    redis.call('ZADD', parked, 'inf', '~')
    for from = 0, runningCount, 500 do
      for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
        if member ~= '~' then put(member, ':1:') end
      end
    end
    purge, comb, renewAt = -1, -1, 0
  end
end
