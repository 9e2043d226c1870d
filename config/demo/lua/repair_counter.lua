-- Put before a script that counts: a counter that cannot count is removed, and its fault is told.
local function is_number(text, most)
  return text == '0' or (string.match(text, '^[1-9][0-9]*$') and #text <= most)
end

local function repair_counter(key)
  local kind = redis.call('TYPE', key).ok
  if kind == 'none' then
    return '', kind, 0
  end
  local shape, length = 'wrong_type', 0
  if kind == 'string' then
    local value = redis.call('GET', key)
    length = #value
    if is_number(value, 17) then
      return '', kind, length
    end
    shape = is_number(value, length) and 'too_large' or 'not_integer'
  end
  redis.call('DEL', key)
  return shape, kind, length
end

-- Read back, since a Lua number holds 53 bits alone.
local function next_id(key)
  redis.call('INCR', key)
  return redis.call('GET', key)
end
