-- Places whose client is not connected, and places that go over to another ticket, of this or of another instance (R24). A place that is put
-- aside is out of the line, and nobody waits for it, but keeps its number; a kept one stays where it is and may be claimed from anywhere.
-- Uses what `open`, `members`, `beat`, `settings` and `keyed` made, `applies` and `firstAcquire`. Makes `moved`: what became of an operation, by its
-- index; `news` for the reply; `taken`: instance → its places that went over to another.
local moved, news, taken = {}, {}, {}
-- What others have taken since the answer before this one.
if applies and kept then
  for member in string.gmatch(kept, '%*([^,]+)') do news[#news + 1] = '!' .. member end
end
if applies and string.find(flags, 'm', 1, true) then
  for index = firstAcquire, #ARGV do
    local operation = ARGV[index]
    local kind = string.sub(operation, 1, 1)
    if kind == '-' then
      local claimMs, member = string.match(operation, '^%-(%d*):(.+)$')
      local isAway = false
      if claimMs ~= '' then
        isAway = redis.call('ZSCORE', waiting, member) or parkedCount > 0 and redis.call('ZSCORE', parked, member)
        if redis.call('ZSCORE', running, member) then
          isAway = true
          local claimEnd = now + tonumber(claimMs)
          redis.call('ZADD', running, 'LT', string.format('%d', claimEnd), member)
          sweepAt = math.min(sweepAt, claimEnd)
        end
      elseif redis.call('ZREM', waiting, member) == 1 then
        isAway = true
        waitingCount = waitingCount - 1
      elseif redis.call('ZREM', running, member) == 1 then
        -- Its turn came while nobody was there.
        isAway = true
        runningCount = runningCount - 1
      elseif parkedCount > 0 and redis.call('ZREM', parked, member) == 1 then
        isAway = true
        parkedCount = parkedCount - 1
      end
      if isAway and claimMs == '' and capped ~= 0 then put(member) end
      if isAway then
        absent = 1
        redis.call('ZADD', aside, string.sub(member, 1, 16), member)
      end
      moved[index] = ''
    elseif kind == '+' or kind == '?' then
      local number, place, secret, key = string.match(operation, '^.(%d+):([^.]+)%.([^:]+):(.*)$')
      local found
      if now >= graceUntil and room then
        for _, set in ipairs(parkedCount > 0 and { aside, waiting, parked } or { aside, waiting }) do
          for _, member in ipairs(redis.call('ZRANGEBYSCORE', set, number, number)) do
            local itsSecret, itsKey = string.match(member, '^%d+:[^:]+:[^.]+%.([^.:]+)[^:]*:%d+:(.*)$')
            if itsSecret == secret and itsKey == key then found = member end
          end
        end
      end
      if not found then
        moved[index] = now < graceUntil and 'h' or room and 'n' or 'u'
      else
        moved[index] = 'm'
        local generation = tonumber(string.match(found, '^%d+:[^:]+:[^.]+%.[^.:]+%.(%d+)')) or 0
        local permits = permitsOf(found)
        -- Nobody counted it while it was aside.
        if permits > 1 then weighted = 1 end
        local member = string.format('%s:%s:%s.%s.%d:%d:%s', number, instance, place, secret, generation + 1, permits, key)
        local entry = '=' .. member .. '/' .. string.format('%d', math.max(0, serverUs - tonumber(number)) / 1000) .. '/'
        redis.call('ZREM', aside, found)
        if capped ~= 0 then put(found) end
        local leaseEnds = tonumber(redis.call('ZSCORE', running, found))
        if leaseEnds then
          -- A kept place whose turn has come. Who only looks at it does not prolong it.
          if kind == '+' then leaseEnds = leaseEnd end
          redis.call('ZREM', running, found)
          redis.call('ZADD', running, string.format('%d', leaseEnds), member)
          if capped ~= 0 then put(member, ':1:') end
          sweepAt = math.min(sweepAt, leaseEnds)
          seq = math.max(seq + 1, serverUs)
          entry = entry .. '0/' .. string.format('%d/%d', seq, math.max(0, leaseEnds - now))
        else
          if parkedCount > 0 and redis.call('ZREM', parked, found) == 1 then
            redis.call('ZADD', parked, number, member)
            put(member, ':3:')
          else
            waitingCount = waitingCount + 1 - redis.call('ZREM', waiting, found)
            redis.call('ZADD', waiting, number, member)
            -- (If its key is at its cap it is parked when it is the head.)
            if capped ~= 0 then put(member, ':2:') end
          end
          local before = redis.call('ZCOUNT', waiting, '-inf', '(' .. number)
          if parkedCount > 0 then before = before + redis.call('ZCOUNT', parked, '-inf', '(' .. number) end
          entry = entry .. string.format('%d', before + 1)
        end
        news[#news + 1] = entry
        local owner = ownerOf(found)
        if owner == instance then
          news[#news + 1] = '!' .. found
        else
          taken[owner] = taken[owner] or {}
          table.insert(taken[owner], found)
        end
      end
    end
  end
  --@include told
end
if absent ~= 0 and redis.call('EXISTS', aside) == 0 then absent = 0 end
