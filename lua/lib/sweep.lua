-- Takes away what the dead hold: instances past their time with all their tickets, and leases past their end. Bounded per call (R3).
-- Uses what `open`, `members` and `keyed` made.
if now >= quietUntil and now >= graceUntil then
  if now >= sweepAt then
    -- What ends in this very millisecond has not ended yet by the clock of its process (R13).
    local before = '(' .. string.format('%d', now)
    local dead = redis.call('ZRANGEBYSCORE', instances, '-inf', before, 'LIMIT', 0, 500)
    local gone = redis.call('ZRANGEBYSCORE', running, '-inf', before, 'LIMIT', 0, 500)
    if #dead == 500 or #gone == 500 then more = 1 end
    for _, id in ipairs(dead) do
      redis.call('ZREM', instances, id)
      redis.call('HDEL', state, 'kept:' .. id)
      isAlive[id] = false
    end
    -- The line is combed from its head to its end, 500 tickets a call; the dead at its head are skipped by `grant` anyway.
    if #dead > 0 then purge, comb = -1, -1 end
    if purge == -1 then
      for from = 0, runningCount, 500 do
        for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
          if member ~= '~' and not ownerIsAlive(member) then gone[#gone + 1] = member end
        end
      end
      for from = 0, absent ~= 0 and redis.call('ZCARD', aside) or -1, 500 do
        for _, member in ipairs(redis.call('ZRANGE', aside, from, from + 499)) do
          if not ownerIsAlive(member) then gone[#gone + 1] = member end
        end
      end
    end
    for from = 1, #gone, 500 do
      if absent ~= 0 then redis.call('ZREM', aside, unpack(gone, from, math.min(from + 499, #gone))) end
      runningCount = runningCount - redis.call('ZREM', running, unpack(gone, from, math.min(from + 499, #gone)))
    end
    if capped ~= 0 then
      for _, member in ipairs(gone) do put(member) end
    end
    sweepAt = math.min(
      tonumber(redis.call('ZRANGE', instances, 0, 0, 'WITHSCORES')[2]) or math.huge,
      tonumber(redis.call('ZRANGE', running, 0, 0, 'WITHSCORES')[2]) or math.huge
    )
  end
  if purge ~= 0 then
    local found = redis.call('ZRANGEBYSCORE', waiting, '(' .. string.format('%d', purge), '(inf', 'WITHSCORES', 'LIMIT', 0, 500)
    local gone = {}
    for i = 1, #found, 2 do
      local lives = ownerIsAlive(found[i])
      if not lives then gone[#gone + 1] = found[i] end
      if capped ~= 0 then put(found[i], lives and ':2:') end
    end
    if #gone > 0 then waitingCount = waitingCount - redis.call('ZREM', waiting, unpack(gone)) end
    purge = #found == 1000 and tonumber(found[1000]) or 0
    if purge ~= 0 then more = 1 end
  end
end
