/** Sets a value in a map of limited size. If the map is full, the oldest value is dropped. */
export function remember<Key, Value>(memory: Map<Key, Value>, key: Key, value: Value, max: number): void {
  memory.delete(key);
  memory.set(key, value);
  const [oldest] = memory.keys();
  if (memory.size > max && oldest !== undefined) memory.delete(oldest);
}
