-- The settings as a record: an operator's value over the value in code (R23). A record (code, operator, version, by) is kept as JSON with all
-- values as text; what scripts need of it stands among the numbers. Garbage in a record never replaces what is in force.
-- Uses what `open` made; `terms` brings such a record as this instance knows it, used where the store has none.
local known = cjson.decode(terms).declared
local settingNames = { 'concurrency', 'maxQueueSize', 'maxWaitMs', 'leaseMs', 'enabled', 'perKey' }

local function readJson(text)
  local ok, value = pcall(cjson.decode, text or '')
  return ok and type(value) == 'table' and value or nil
end

local function isLegal(name, value)
  if name == 'enabled' then return value == 'true' or value == 'false' end
  if name == 'perKey' then
    local concurrency, size = string.match(type(value) == 'string' and value or '', '^(%S+) (%S+)$')
    return concurrency and isLegal('concurrency', concurrency) and isLegal('maxQueueSize', size)
  end
  local number = tonumber(value)
  if not number or number < (name == 'leaseMs' and 1 or 0) then return false end
  if number == math.huge then return name == 'concurrency' or name == 'maxQueueSize' end
  return number == number and (name == 'maxWaitMs' or name == 'leaseMs' or number == math.floor(number))
end

-- Of stored settings what is legal, so that the next change leaves no garbage behind.
local function readLegal(text)
  local values = readJson(text)
  if not values then return nil end
  local legal = {}
  for _, name in ipairs(settingNames) do
    if isLegal(name, values[name]) then legal[name] = values[name] end
  end
  return legal
end

-- The stored record, or this instance's where that cannot be read.
local function storedRecord()
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  local record = {
    code = readLegal(stored[1]) or known.code,
    operator = readLegal(stored[2]),
    version = tonumber(stored[3]) or 0,
    by = stored[4] or '',
  }
  if not record.operator then
    record.operator, record.version, record.by = known.operator, tonumber(known.version) or 0, known.by or ''
  end
  return record
end

-- Stores a record and puts it in force; the revision counts up, also over a lost memory, so every instance fetches the settings.
local function putInForce(record)
  revision = math.max(revision + 1, epochNumber)
  change('code', cjson.encode(record.code))
  change('operator', cjson.encode(record.operator))
  change('version', record.version)
  change('by', record.by)
  local inForce = { concurrency = limit, maxQueueSize = sizeLimit, leaseMs = leaseMs }
  for _, name in ipairs({ 'concurrency', 'maxQueueSize', 'leaseMs' }) do
    local value = record.operator[name]
    if value == nil then value = record.code[name] end
    if isLegal(name, value) then inForce[name] = tonumber(value) end
  end
  limit, sizeLimit, leaseMs = inForce.concurrency, inForce.maxQueueSize, inForce.leaseMs
  local perKey = record.operator.perKey or record.code.perKey
  if isLegal('perKey', perKey) then
    local concurrency, size = string.match(perKey, '^(%S+) (%S+)$')
    -- Who is parked may be let in by another cap.
    if tonumber(concurrency) ~= keyLimit then comb = -1 end
    keyLimit, keySizeLimit = tonumber(concurrency), tonumber(size)
  end
end
