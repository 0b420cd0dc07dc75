-- The settings as records: an operator's value over the value in code (R23). A record (code, operator, version, by) is kept as JSON with all
-- values as text; what is in force stands beside it as plain fields, and is made anew from the record where it is garbage.
-- Uses what `open` made, and `declared`: such a record as this instance knows it, used where the store has none.
local settingNames = { 'concurrency', 'maxQueueSize', 'maxWaitMs', 'leaseMs', 'enabled' }

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

-- The stored record, or this instance's where that cannot be read.
local function storedRecord()
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  local known = readJson(declared)
  local record = {
    code = readJson(stored[1]) or known.code,
    operator = readJson(stored[2]),
    version = tonumber(stored[3]) or 0,
    by = stored[4] or '',
  }
  if not record.operator then
    record.operator, record.version, record.by = known.operator, tonumber(known.version) or 0, known.by or ''
  end
  return record
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
