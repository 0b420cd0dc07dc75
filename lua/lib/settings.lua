-- The settings of the queue: an operator's value over the value in code (R23). The record (code, operator, version, by) is kept as JSON
-- with all values as text; what is in force stands beside it as plain fields. A plain field that holds garbage is made anew from the record.
-- Uses what `open` made, and `declared`: such a record as this instance knows it, used where the store has none.
local settingNames = { 'concurrency', 'maxQueueSize', 'maxWaitMs', 'leaseMs', 'enabled' }
local settingsBroken = false
local limit, sizeLimit, leaseEnd

local function readJson(text)
  local ok, value = pcall(cjson.decode, text or '')
  return ok and type(value) == 'table' and value or nil
end

local function isLegal(name, value)
  if name == 'enabled' then return value == 'true' or value == 'false' end
  local number = tonumber(value)
  if not number or number < (name == 'leaseMs' and 1 or 0) then return false end
  if number == math.huge then return name == 'concurrency' or name == 'maxQueueSize' end
  return number == number and (name == 'maxWaitMs' or name == 'leaseMs' or number == math.floor(number))
end

local function readRecord(code, operator, version, by)
  return { code = readJson(code), operator = readJson(operator), version = tonumber(version) or 0, by = by or '' }
end

-- Stores a record and puts it in force; the revision counts up, so every instance fetches the settings.
local function putInForce(record)
  revision = revision + 1
  change('revision', revision)
  change('code', cjson.encode(record.code))
  change('operator', cjson.encode(record.operator))
  change('version', record.version)
  change('by', record.by)
  local inForce = {}
  for _, name in ipairs(settingNames) do
    local value = record.operator[name]
    inForce[name] = isLegal(name, value) and value or record.code[name]
    change(name, inForce[name])
  end
  fields[10], fields[11], fields[12] = inForce.concurrency, inForce.maxQueueSize, inForce.leaseMs
end

-- The stored record, or this instance's where that cannot be read.
local function storedRecord()
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  local record = readRecord(stored[1], stored[2], stored[3], stored[4])
  local known = readJson(declared)
  record.code = record.code or known.code
  if not record.operator then
    record.operator, record.version, record.by = known.operator, tonumber(known.version) or 0, known.by or ''
  end
  return record
end

-- Sees to it that there are legal settings. `declaring`: this instance has just started, its code counts from now on.
-- `rejoining`: the operator's settings of the highest version come back with a rejoin (R18).
local function loadSettings(declaring, rejoining)
  local fine = isLegal('concurrency', fields[10]) and isLegal('maxQueueSize', fields[11]) and isLegal('leaseMs', fields[12])
  if not fine or declaring or rejoining then
    settingsBroken = not fine and not isNew and not lossSeen
    local record = storedRecord()
    local known = readJson(declared)
    local changed = not fine
    if declaring then
      for _, name in ipairs(settingNames) do changed = changed or record.code[name] ~= known.code[name] end
      record.code = known.code
    end
    if rejoining and (tonumber(known.version) or 0) > record.version then
      record.operator, record.version, record.by = known.operator, tonumber(known.version), known.by or ''
      changed = true
    end
    if changed then putInForce(record) end
  end
  limit = tonumber(fields[10])
  sizeLimit = tonumber(fields[11])
  leaseEnd = now + math.ceil(tonumber(fields[12]))
end

-- What an instance needs that knows another revision; to be called after `close`.
local function settingsReply(knownRevision)
  if knownRevision == revision and not settingsBroken then return '' end
  local stored = redis.call('HMGET', state, 'concurrency', 'maxQueueSize', 'maxWaitMs', 'leaseMs', 'enabled', 'operator', 'version', 'by', 'code')
  return cjson.encode({
    concurrency = stored[1], maxQueueSize = stored[2], maxWaitMs = stored[3], leaseMs = stored[4], enabled = stored[5],
    operator = stored[6], version = stored[7], by = stored[8], code = stored[9], revision = revision, broken = settingsBroken,
  })
end
