-- Takes away what the dead hold: instances past their time with all their tickets, and leases past their end. Bounded per call (R3);
-- `more` says that another call should follow at once.
-- Uses what `open` made.
--@include members

local function forget(dead)
  redis.call('ZREM', instances, dead)
  redis.call('HDEL', state, 'kept:' .. dead)
  isAlive[dead] = false
end

local function removeRunningOfTheDead()
  local gone = {}
  for from = 0, runningCount, 500 do
    for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
      if member ~= '~' and not ownerIsAlive(member) then gone[#gone + 1] = member end
    end
  end
  runningCount = runningCount - removeAll(running, gone)
end

-- The line is combed from its head to its end after every death, 500 tickets a call; those at the head are skipped by `grant` anyway.
local function startPurge()
  purge = '-inf'
  change('purge', purge)
end
local function continuePurge()
  if purge == '' then return end
  local found = redis.call('ZRANGEBYSCORE', waiting, purge, '(inf', 'WITHSCORES', 'LIMIT', 0, 500)
  local gone = {}
  for i = 1, #found, 2 do
    if not ownerIsAlive(found[i]) then gone[#gone + 1] = found[i] end
  end
  waitingCount = waitingCount - removeAll(waiting, gone)
  purge = #found == 1000 and '(' .. found[#found - 1] or ''
  change('purge', purge)
  if purge ~= '' then more = 1 end
end

local function earliest(set)
  return tonumber(redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]) or math.huge
end

local function sweep()
  if now < quietUntil or inGrace() then return end
  if now >= sweepAt then
    local dead = redis.call('ZRANGEBYSCORE', instances, '-inf', '(' .. now, 'LIMIT', 0, 500)
    for _, instanceId in ipairs(dead) do forget(instanceId) end
    if #dead > 0 then
      removeRunningOfTheDead()
      startPurge()
    end
    local ended = redis.call('ZRANGEBYSCORE', running, '-inf', now, 'LIMIT', 0, 500)
    runningCount = runningCount - removeAll(running, ended)
    if #dead == 500 or #ended == 500 then more = 1 end
    sweepAt = math.min(earliest(instances), earliest(running))
  end
  continuePurge()
end
