-- The settings for an instance that knows another revision, as JSON; empty for one that does not. After `close`.
-- What is in force is told beside the record, which may hold garbage.
-- Uses what `open` made, and `knownRevision`.
local news = ''
if knownRevision ~= revision then
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  news = cjson.encode({
    code = stored[1], operator = stored[2], version = stored[3], by = stored[4],
    revision = string.format('%d', revision),
    inForce = {
      concurrency = string.format('%.17g', limit), maxQueueSize = string.format('%.17g', sizeLimit),
      leaseMs = string.format('%.17g', leaseMs), perKey = string.format('%.17g %.17g', keyLimit, keySizeLimit),
    },
  })
end
