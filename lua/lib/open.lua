-- Opens a queue's state: time, loss of memory, epoch. It only reads; what changes is collected in `changes` and written by `close`.
-- Uses: waiting, running, instances, aside, state, parked; instance, batch, standing, livenessMs, terms.
-- (Fragments are steps, not libraries: Redis makes every function of a script anew at each call, so only what most calls need is one.)
--@include clock

local fields = redis.call('HMGET', state, 'numbers', 'standing', 'kept:' .. instance)
local kept = fields[3]
local keptBatch = kept and tonumber(string.match(kept, '^%d+'))
--@include numbers
-- 1 when bounded work was left over, and another call should follow at once.
local more = 0

local changes = {}
local function change(field, value)
  changes[#changes + 1] = field
  changes[#changes + 1] = value
end

-- Most callers know all as it is, and one comparison says so; the others are read word by word: epoch, the server's identity, revision.
local asKnown = epochNumber > 0 and fields[2] == standing
local knownEpoch, epoch, run, storedRun, knownRevision
if asKnown then
  epoch, storedRun = string.match(standing, '^(%d+) (%w*)')
  knownEpoch, knownRevision = epoch, revision
else
  knownEpoch = string.format('%d', epochNumber)
  epoch, run, knownRevision = string.match(standing, '^(%d*) (%w*) (%-?%d+)$')
  knownRevision = tonumber(knownRevision)
  storedRun = fields[2] and string.match(fields[2], '^%d+ (%w*)') or ''
end

-- Time never runs backwards (R19).
local now = math.floor(serverUs / 1000) + skewMs
if now < last then
  skewMs = skewMs + last - now
  now = last
end
-- After a silence of everybody nobody's death is proven (R19).
if last > 0 and now - last > livenessMs / 2 then
  quietUntil = now + math.ceil(livenessMs * 2 / 3)
  -- Nor had those time to come back who were awaited in a grace.
  if last < graceUntil then graceUntil = math.max(graceUntil, quietUntil) end
end

-- Sentinels stand in all three sets, so a queue whose keys are not all there has lost memory (R15).
local waitingCount = redis.call('ZCARD', waiting) - 1
local runningCount = redis.call('ZCARD', running) - 1
local aliveUntil = tonumber(redis.call('ZSCORE', instances, instance))
local instancesThere = aliveUntil or redis.call('EXISTS', instances) == 1
-- The flag goes with the state; who is parked shows that there was one.
if epochNumber == 0 then capped = redis.call('EXISTS', parked) end
local parkedCount = capped ~= 0 and redis.call('ZCARD', parked) - 1 or 0
local isNew = epochNumber == 0 and capped == 0 and waitingCount < 0 and runningCount < 0 and not instancesThere
local lossSeen = not isNew and not (epochNumber > 0 and waitingCount >= 0 and runningCount >= 0 and instancesThere)
if capped ~= 0 and (parkedCount < 0 or redis.call('EXISTS', keyed) == 0) then lossSeen = true end
-- So does a gap in an instance's batches, unless it brings another epoch: then it has been found.
if batch and keptBatch and batch > keptBatch + 1 and epoch == knownEpoch then lossSeen = true end
-- A restart from disk or a fail-over shows in the server's identity; a late message from before it shows nothing.
if not asKnown and run ~= '' and run ~= storedRun then
  if storedRun ~= '' and redis.call('HGET', state, 'formerRun') ~= run then
    lossSeen = true
    change('formerRun', storedRun)
  end
  if lossSeen or storedRun == '' then storedRun = run end
end

waitingCount = math.max(0, waitingCount)
runningCount = math.max(0, runningCount)
parkedCount = math.max(0, parkedCount)

-- Numbers and fences only grow, even over a lost store (R2). They become text by string.format alone: other ways keep 14 digits (R3).
if isNew or lossSeen then
  seq = math.max(seq + 1, serverUs)
  epochNumber = seq
  asKnown = false
  knownEpoch = string.format('%d', epochNumber)
  graced = 0
  -- A new epoch keeps what is there, but of these tickets nothing is known: their permits have to be looked at.
  if runningCount > 0 or waitingCount + parkedCount > 0 then weighted = 1 end
  absent = 1
  sweepAt = 0
  -- Those of them whose instance does not come back are combed out when the grace is over.
  purge = -1
  renewAt, keptFor = 0, 0
  -- Without evidence of a loss the line opens at once, but not before the server has been up for a while (R17).
  local bootMs = cjson.decode(terms).bootMs
  graceUntil = bootMs > 0 and now + bootMs or 0
end
-- With evidence of a loss nothing is granted for one livenessMs (R16). Who brings another epoch is evidence, unless that one is known.
local otherEpoch = epoch ~= '' and epoch ~= knownEpoch
local graceBegins = lossSeen or otherEpoch and graced == 0
if graceBegins then
  graceUntil = now + livenessMs
  graced = 1
  change('awaited', '')
  change('returned', '')
end
