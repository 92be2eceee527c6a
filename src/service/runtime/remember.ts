/** Adds a value to a map of limited size. If the map is full, drops the oldest value. */
export function remember<Key, Value>(memory: Map<Key, Value>, key: Key, value: Value, max: number): void {
  memory.delete(key);
  memory.set(key, value);
  const [oldest] = memory.keys();
  if (memory.size > max && oldest !== undefined) memory.delete(oldest);
}
