-- Writes back what has changed, in one command, and renews the life of the keys, seldom (R20).
-- Uses what `open` made.
local function close()
  change('seq', numberText(seq))
  change('last', now)
  change('sweep', sweepAt)
  redis.call('HSET', state, unpack(changes))
  if expires - now < keepMs then
    expires = now + 2 * keepMs
    redis.call('HSET', state, 'expires', expires)
    -- In the server's own time, without our skew.
    local at = expires - skewMs
    redis.call('PEXPIREAT', waiting, at)
    redis.call('PEXPIREAT', running, at)
    redis.call('PEXPIREAT', instances, at)
    redis.call('PEXPIREAT', state, at)
  end
end
