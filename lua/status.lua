--- status: looks at a queue and changes nothing.
--@key waiting    the line
--@key running    who runs
--@key instances  who lives
--@key state      hash
--@args members   tickets whose positions are asked for
--@reply epoch, server time in ms, waiting, running, instances, grants, settings in force, then a position for each member (0: not in the line)
--@include clock
local fields = redis.call('HMGET', state, 'numbers')
--@include numbers
local knownRevision = limit < 0 and revision or -1
--@include news
local runningCount = math.max(0, redis.call('ZCARD', running) - 1)
--@include members
--@include used
local reply = {
  string.format('%d', epochNumber), string.format('%d', math.floor(serverUs / 1000) + skewMs), math.max(0, redis.call('ZCARD', waiting) - 1),
  used, math.max(0, redis.call('ZCARD', instances) - 1), grants, news,
}
for index = members, #ARGV do
  local rank = redis.call('ZRANK', waiting, ARGV[index])
  reply[#reply + 1] = rank and rank + 1 or 0
end
return reply
