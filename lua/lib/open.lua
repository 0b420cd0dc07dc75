-- Opens a queue's state: time, loss of memory, epoch. Every script that changes a queue begins with it; it only reads, `beat` writes first.
-- Uses: waiting, running, instances, state; instance, epoch, run, livenessMs, bootMs, keepMs.
--@include clock

local fields = redis.call('HMGET', state, 'epoch', 'seq', 'last', 'skew', 'sweep', 'quiet', 'grace', 'run', 'grants',
  'concurrency', 'maxQueueSize', 'leaseMs', 'revision', 'weighted', 'expires', 'purge', 'kept:' .. instance)
local knownEpoch = fields[1]
local seq = tonumber(fields[2]) or 0
local sweepAt = tonumber(fields[5]) or 0
local quietUntil = tonumber(fields[6]) or 0
local graceUntil = tonumber(fields[7]) or 0
local storedRun = fields[8]
local grants = tonumber(fields[9]) or 0
local revision = tonumber(fields[13]) or 0
local weighted = fields[14] == '1'
local expires = tonumber(fields[15]) or 0
local purge = fields[16] or ''
local kept = fields[17]
local keptBatch = kept and tonumber(string.match(kept, '^%d+'))

-- 1 when bounded work was left over, and another call should follow at once.
local more = 0

-- What this script changes in the hash: written once, by `close`.
local changes = {}
local function change(field, value)
  changes[#changes + 1] = field
  changes[#changes + 1] = value
end

-- Time never runs backwards (R19).
local skewMs = tonumber(fields[4]) or 0
local now = math.floor(serverUs / 1000) + skewMs
local last = tonumber(fields[3])
if last and now < last then
  skewMs = skewMs + last - now
  now = last
  change('skew', skewMs)
end
-- After a silence of everybody nobody's death is proven (R19).
if last and now - last > livenessMs / 2 then
  quietUntil = now + math.ceil(livenessMs * 2 / 3)
  change('quiet', quietUntil)
end

-- Numbers and fences only grow, even over a lost store (R2); as text by format alone, other ways keep 14 digits (R3).
local function nextNumber()
  seq = math.max(seq + 1, serverUs)
  return seq
end
local function numberText(number)
  return string.format('%016.0f', number)
end

-- Sentinels stand in all three sets, so a queue whose keys are not all there has lost memory (R15).
local waitingCount = redis.call('ZCARD', waiting) - 1
local runningCount = redis.call('ZCARD', running) - 1
local aliveUntil = tonumber(redis.call('ZSCORE', instances, instance))
local instancesThere = aliveUntil or redis.call('EXISTS', instances) == 1
local isNew = not knownEpoch and waitingCount < 0 and runningCount < 0 and not instancesThere
local lossSeen = not isNew and not (knownEpoch and waitingCount >= 0 and runningCount >= 0 and instancesThere)

-- A restart from disk or a fail-over shows in the server's identity (R15); a late message from before it shows nothing.
if run ~= '' and run ~= storedRun then
  if storedRun and redis.call('HGET', state, 'formerRun') ~= run then
    lossSeen = true
    change('formerRun', storedRun)
  end
  if lossSeen or not storedRun then change('run', run) end
end

local function startGrace()
  graceUntil = now + livenessMs
  change('grace', graceUntil)
  change('graced', '1')
  change('awaited', '')
  change('returned', '')
end

-- A new epoch keeps what is there. With evidence of loss nothing is granted for one livenessMs (R16); without it the line opens at
-- once, but not before the server has been up for a while (R17).
local function startEpoch()
  knownEpoch = numberText(nextNumber())
  change('epoch', knownEpoch)
  -- Of tickets that were there before nothing is known: their permits have to be looked at.
  if runningCount > 0 or waitingCount > 0 then
    weighted = true
    change('weighted', '1')
  end
  sweepAt = 0
  expires = 0
  if lossSeen then
    startGrace()
  else
    change('graced', '0')
    graceUntil = bootMs > 0 and now + bootMs or 0
    change('grace', graceUntil)
  end
end

-- A gap in an instance's batches means that writes were lost (R15).
if batch and keptBatch and batch > keptBatch + 1 then lossSeen = true end
if isNew or lossSeen then startEpoch() end

-- Who brings another epoch proves that memory was lost, unless that is known.
local otherEpoch = epoch ~= '' and epoch ~= knownEpoch
if otherEpoch and not lossSeen and (isNew or redis.call('HGET', state, 'graced') ~= '1') then startGrace() end

-- A Redis without room refuses a script's first write if it needs memory, but nothing that follows a removal (R6).
local room = true
local function makeFirstWrite(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then
    room = false
    redis.call('ZREM', waiting, '')
    redis.call(...)
  end
  if isNew or lossSeen then
    redis.call('ZADD', waiting, 'inf', '~')
    redis.call('ZADD', running, 'inf', '~')
    redis.call('ZADD', instances, 'inf', '~')
    waitingCount = math.max(waitingCount, 0)
    runningCount = math.max(runningCount, 0)
  end
end

local function inGrace()
  return now < graceUntil
end
