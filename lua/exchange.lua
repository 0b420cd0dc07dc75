--- exchange: applies one batch of an instance: releases and cancels, proof of life, sweep, grants, acquires, hints, in this order (R6).
--@key waiting    the line: member text → arrival number
--@key running    who runs: member text → end of lease, server time in ms
--@key instances  who lives: instance → alive until, server time in ms
--@key aside      places whose client is not connected: member text → arrival number
--@key state      hash: epoch, numbers, settings, statistics, kept verdicts
--@key parked     tickets out of the line because their key is at its cap: member text → arrival number
--@key keyed      tickets by key, where keys have caps: key:place:number:instance:ticket:permits
--@arg instance   string  whose batch this is
--@arg batch      number  counts the instance's batches; the same number again changes nothing (R4)
--@arg standing   string  three words as the instance knows them: the epoch (empty if none, or too old to prove anything), the server's
-- identity as read at connect (empty if not to be had), the revision of the settings
--@arg flags      string  letters: `h` it believes to have tickets in the store; `s` it has just started, so that its code value counts
-- from now on (R23); `f` it asks for all its running tickets and all instances; `m` there are operations of `moves` among the acquires
--@arg livenessMs number  for how long this exchange proves that the instance lives
--@arg terms      string  JSON of what is rarely looked at: bootMs, what is left of the boot grace (R17); keepMs, for how long the state must
-- at least be kept; declared, the settings in this instance's code, and the operator's that it knows
--@arg channel    string  how the wake channels' names begin
--@arg releases   number  how many of the operations are members to release
--@arg cancels    number  how many of the next are members to cancel, from the line or from running (R7)
--@args operations members to release, members to cancel, then acquires as ticket:permits:key; among these `-:member` (its client is gone:
-- it is put aside), `-claimMs:member` (kept: once its turn has come it is held for so long), `+number:ticket:key` (a ticket takes up that
-- place again), `?number:ticket:key` (the same, but to look: whose turn has come stays kept)
--@reply same, kept, nextMs, waiting: like `ok`, where the standing is as the instance knows it, no grace is on and nothing more was asked for
--@reply ok, epoch, kept (batch, first number, verdicts, grants, epoch[, news: `!member` taken, `=member/ageMs/position[/fence/leftMs]` taken up]), nextMs (-1: exchange again at once), graceMs, waiting, settings[, first fence for own running, own running, instances]
--@reply rejoin, epoch, kept: nothing was applied, the instance must put its tickets back (R14); kept if it is of this batch
--@reply stale: a late copy of an earlier batch; ignored
--@include open
--@include members

-- A late copy of a batch that was answered long ago.
if keptBatch and batch < keptBatch then return { 'stale' } end

local repeated = keptBatch == batch
local stalled = aliveUntil and aliveUntil < now and now >= quietUntil and now >= graceUntil
local forgotten = string.find(flags, 'h', 1, true) and (otherEpoch or stalled or not aliveUntil or not kept)
-- What it did in a memory that is lost since has to be put back, whatever the instance knew of it.
if repeated and string.match(kept, '^[^ ]* [^ ]* [^ ]* [^ ]* (%d+)') ~= knownEpoch then forgotten = true end
local applies = not forgotten and not repeated
-- Its time is over: it is swept like any other.
if forgotten and stalled then sweepAt = 0 end

local lives = not forgotten
--@include beat
local known = ''
if lives then
  --@include grace
end
local declaring, rejoining = lives and string.find(flags, 's', 1, true), false
--@include settings
--@include keyed

-- 1. releases and cancels
local firstCancel = operations + releases
local firstAcquire = firstCancel + cancels
if applies then
  if releases > 0 then runningCount = runningCount - redis.call('ZREM', running, unpack(ARGV, operations, firstCancel - 1)) end
  if cancels > 0 then
    local left = redis.call('ZREM', waiting, unpack(ARGV, firstCancel, firstAcquire - 1))
    waitingCount = waitingCount - left
    if left < cancels then runningCount = runningCount - redis.call('ZREM', running, unpack(ARGV, firstCancel, firstAcquire - 1)) end
    if parkedCount > 0 then parkedCount = parkedCount - redis.call('ZREM', parked, unpack(ARGV, firstCancel, firstAcquire - 1)) end
  end
  if capped ~= 0 then
    for index = operations, firstAcquire - 1 do put(ARGV[index]) end
  end
  if absent ~= 0 and firstAcquire > operations then redis.call('ZREM', aside, unpack(ARGV, operations, firstAcquire - 1)) end
end
--@include moves

-- 2. the proof of life stands above; 3. and 4.
if not repeated then
  --@include sweep
end
local mayGrant = applies
--@include grant
for owner, list in pairs(taken) do
  -- A fence of 0: it is no longer theirs.
  local told = table.concat(list, '/0,') .. '/0'
  otherGrants[owner] = otherGrants[owner] and otherGrants[owner] .. ',' .. told or told
end

-- 5. acquires
if applies then
  local first = 0
  local words, line, started = {}, {}, {}
  for index = firstAcquire, #ARGV do
    local operation = ARGV[index]
    local word = moved[index]
    local permits = 1
    if not word and not string.find(operation, ':1:', 1, true) then permits = tonumber(string.match(operation, '^[^:]+:(%d+)')) end
    if word then
      -- It is no newcomer.
    elseif now < graceUntil then
      word = 'h'
    elseif not room then
      word = 'u'
    elseif permits > limit and limit > 0 then
      word = 'p'
    else
      local key = capped ~= 0 and string.match(operation, '[^:]*$') or ''
      -- It never passes another of its key that is parked.
      local parks = key ~= '' and (count(key, ':1:', ':3:') >= keyLimit or parkedCount > 0 and count(key, ':3:', ':4:') > 0)
      local goesFirst = waitingCount == passedOver and permits <= free and not parks
      if not goesFirst and key ~= '' and count(key, ':2:', ':4:') >= keySizeLimit then
        word = 'k'
      elseif not goesFirst and waitingCount + parkedCount >= sizeLimit then
        word = 'f'
      else
        seq = math.max(seq + 1, serverUs)
        if first == 0 then first = seq end
        local number = string.format('%016d', seq)
        local member = number .. ':' .. instance .. ':' .. operation
        if permits > 1 then weighted = 1 end
        if key ~= '' then put(member, goesFirst and ':1:' or parks and ':3:' or ':2:') end
        if goesFirst then
          word = 'g'
          free = free - permits
          started[#started + 1] = leaseEndText
          started[#started + 1] = member
        elseif parks then
          word = 'q'
          parkedCount = parkedCount + redis.call('ZADD', parked, number, member)
        else
          word = 'q'
          waitingCount = waitingCount + 1
          line[#line + 1] = number
          line[#line + 1] = member
        end
      end
    end
    words[#words + 1] = word
  end
  if #started > 0 then
    redis.call('ZADD', running, unpack(started))
    runningCount = runningCount + #started / 2
    grants = grants + #started / 2
    sweepAt = math.min(sweepAt, leaseEnd)
  end
  if #line > 0 then redis.call('ZADD', waiting, unpack(line)) end
  kept = string.format('%d %d ', batch, first) .. table.concat(words) .. ' ' .. table.concat(ownGrants, ',') .. ' ' .. knownEpoch
  if #news > 0 then kept = kept .. ' ' .. table.concat(news, ',') end
  change('kept:' .. instance, kept)
end

-- Whoever asked for more than one permit has gone: counting suffices again.
if waitingCount == 0 and runningCount == 0 and parkedCount == 0 then weighted = 0 end

-- Each lease that is learned of from the list has a fence of its own (R2).
local firstFence = seq + 1
local full = string.find(flags, 'f', 1, true)
if full then seq = seq + runningCount end

-- 6. hints; whoever is new is told to the others, who may have to wait for it after a loss (R16)
local nudge = applies and not aliveUntil
--@include hints
--@include close

if forgotten then return { 'rejoin', knownEpoch, repeated and kept or '' } end
-- When the next thing happens that nobody tells: a lease ends, an instance dies, a grace or a silence is over (R9).
local nextAt = math.min(math.max(sweepAt, quietUntil, graceUntil), now + 86400000)
local nextMs = more == 1 and -1 or math.max(0, nextAt - now)
if asBefore and now >= graceUntil and not full then return { 'same', kept, nextMs, waitingCount + parkedCount } end
--@include news
local reply = { 'ok', knownEpoch, kept, nextMs, math.max(0, graceUntil - now), waitingCount + parkedCount, news }
if full then
  local own = {}
  for from = 0, runningCount, 500 do
    for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
      if member ~= '~' and ownerOf(member) == instance then own[#own + 1] = member end
    end
  end
  reply[8] = string.format('%d', firstFence)
  reply[9] = table.concat(own, ',')
  reply[10] = table.concat(redis.call('ZRANGEBYSCORE', instances, '-inf', '(inf', 'LIMIT', 0, 500), ' ')
end
return reply
