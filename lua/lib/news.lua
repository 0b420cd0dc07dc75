-- The settings for an instance that knows another revision, as JSON; empty for one that does not. After `close`.
-- Uses what `open` made, and `knownRevision`.
local news = ''
if knownRevision ~= revision then
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  news = cjson.encode({ code = stored[1], operator = stored[2], version = stored[3], by = stored[4], revision = revision })
end
