--- status: looks at a queue and changes nothing.
--@key waiting    the line
--@key running    who runs
--@key instances  who lives
--@key state      hash
--@args members   tickets whose positions are asked for
--@reply epoch, server time in ms, waiting, running, instances, grants, settings in force, then a position for each member (0: not in the line)
--@include clock
local fields = redis.call('HMGET', state, 'epoch', 'skew', 'grants', 'weighted', 'concurrency', 'maxQueueSize', 'maxWaitMs', 'leaseMs',
  'enabled', 'operator', 'version', 'by')
local skewMs = tonumber(fields[2]) or 0
local runningCount = math.max(0, redis.call('ZCARD', running) - 1)
local weighted = fields[4] == '1'
--@include members
local news = fields[5] and cjson.encode({
  concurrency = fields[5], maxQueueSize = fields[6], maxWaitMs = fields[7], leaseMs = fields[8], enabled = fields[9],
  operator = fields[10], version = fields[11], by = fields[12],
}) or ''
local reply = {
  fields[1] or '', string.format('%.0f', math.floor(serverUs / 1000) + skewMs), math.max(0, redis.call('ZCARD', waiting) - 1),
  usedPermits(), math.max(0, redis.call('ZCARD', instances) - 1), tonumber(fields[3]) or 0, news,
}
for index = members, #ARGV do
  local rank = redis.call('ZRANK', waiting, ARGV[index])
  reply[#reply + 1] = rank and rank + 1 or 0
end
return reply
