-- Publish one message under a generation, of counters that are repaired where they cannot count.
local counter, channel, epoch, token, generations = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local body, token_s, seed = ARGV[1], ARGV[2], ARGV[3]

local function usable(key, most)
  if redis.call('TYPE', key).ok ~= 'string' then
    return nil
  end
  local known = redis.call('GET', key)
  return string.match(known, '^[1-9][0-9]*$') and #known <= most and known or nil
end

local function rotate()
  if redis.call('EXISTS', generations) == 0 or usable(generations, 17) then
    redis.call('INCR', generations)
  else
    redis.call('SET', generations, seed)
  end
  local fresh = redis.call('GET', generations)
  redis.call('SET', epoch, fresh)
  return fresh
end

if redis.call('EXISTS', token) == 1 then
  return {'0', '', '', 0}
end
local shape, kind, length = repair_counter(counter)
local id = next_id(counter)
if id == '1' or redis.call('EXISTS', epoch) == 0 then
  rotate()
end
local current = usable(epoch, 18) or rotate()
redis.call('PUBLISH', channel, current .. '|' .. id .. '|' .. body)
redis.call('SET', token, '1', 'EX', token_s)
return {id, shape, kind, length}
