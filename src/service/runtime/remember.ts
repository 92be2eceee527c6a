/** Sets a value in a memory of limited size. Beyond it, drops the value that was set the longest ago. */
export function remember<Key, Value>(memory: Map<Key, Value>, key: Key, value: Value, max: number): void {
  memory.delete(key);
  memory.set(key, value);
  const [oldest] = memory.keys();
  if (memory.size > max && oldest !== undefined) memory.delete(oldest);
}
