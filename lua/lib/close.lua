-- Writes back what has changed, in one command; puts up the sentinels of a new epoch; renews the life of the keys, seldom (R20).
-- Uses what `open` made.
if isNew or lossSeen then
  redis.call('ZADD', waiting, 'inf', '~')
  redis.call('ZADD', running, 'inf', '~')
  redis.call('ZADD', instances, 'inf', '~')
end
-- All is as the caller knew it when it asked.
local asBefore = asKnown and revision == knownRevision
local renews = now >= renewAt
if not asBefore then
  change('standing', knownEpoch .. ' ' .. storedRun .. ' ' .. string.format('%d', revision))
  local keepMs = cjson.decode(terms).keepMs
  if keepMs > keptFor then
    keptFor = keepMs
    renews = true
  end
end
if renews then renewAt = now + keptFor end
local numbers = struct.pack('<dddddddddddddddddddddd', epochNumber, seq, now, skewMs, sweepAt, quietUntil, graceUntil, grants,
  limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent, keyLimit, keySizeLimit, capped, comb)
redis.call('HSET', state, 'numbers', numbers, unpack(changes))
if renews then
  for _, key in ipairs({ waiting, running, instances, aside, state, parked, keyed }) do
    -- In the server's own time, without our skew.
    redis.call('PEXPIREAT', key, renewAt + keptFor - skewMs)
  end
end
