-- The settings for an instance that knows another revision, as JSON; empty for one that does not. After `close`.
-- Uses what `open` made, `knownRevision` and `settingsBroken`.
local news = ''
if knownRevision ~= revision or settingsBroken then
  local stored = redis.call('HMGET', state, 'concurrency', 'maxQueueSize', 'maxWaitMs', 'leaseMs', 'enabled', 'operator', 'version', 'by', 'code')
  news = cjson.encode({
    concurrency = stored[1], maxQueueSize = stored[2], maxWaitMs = stored[3], leaseMs = stored[4], enabled = stored[5],
    operator = stored[6], version = stored[7], by = stored[8], code = stored[9], revision = revision, broken = settingsBroken,
  })
end
