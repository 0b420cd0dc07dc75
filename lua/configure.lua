--- configure: changes the operator's settings for all instances at once, and lets in whom the change allows.
--@key waiting    the line
--@key running    who runs
--@key instances  who lives
--@key aside      places whose client is not connected
--@key state      hash
--@key parked     tickets out of the line because their key is at its cap
--@key keyed      tickets by key
--@arg instance   string  who asks
--@arg standing   string  epoch, server and revision as the instance knows them, like `exchange`
--@arg livenessMs number  of this instance
--@arg terms      string  JSON, like `exchange`
--@arg channel    string  how the wake channels' names begin
--@arg changeId   string  names this change: the same again changes nothing, since client libraries repeat calls (R5)
--@arg ifVersion  string  change only if this is the version in force; empty: whatever it is
--@arg values     string  JSON: name → new value as text, or false to clear it
--@arg by         string  who makes the change
--@reply ok, settings, grants of the caller's own tickets, 1 if it should exchange at once since more could be let in
--@reply conflict, version in force: nothing was changed
--@reply full: the server has no room
-- No batch: this call may be made at any time, by an instance that has no tickets.
local batch = nil
--@include open
--@include members

local probe = redis.pcall('HSET', state, 'room', '1')
if type(probe) == 'table' then return { 'full' } end
--@include records
local declaring, rejoining = false, false
--@include settings

local record = storedRecord()
local repeated = redis.call('HGET', state, 'changeId') == changeId
local conflicts = not repeated and ifVersion ~= '' and tonumber(ifVersion) ~= record.version
local applies = not conflicts and not repeated
if applies then
  for name, value in pairs(cjson.decode(values)) do record.operator[name] = value or nil end
  record.version = record.version + 1
  record.by = by
  putInForce(record)
  change('changeId', changeId)
  leaseEnd = now + math.ceil(leaseMs)
  leaseEndText = string.format('%d', leaseEnd)
end
--@include keyed
local mayGrant, nudge = not conflicts, applies
--@include grant
--@include hints
--@include close
if conflicts then return { 'conflict', record.version } end
knownRevision = -1
--@include news
return { 'ok', news, table.concat(ownGrants, ','), more }
