interface MemoryLimit {
  readonly maxBytes: number;
  /** Leaves memory for the work of other keys. */
  readonly maxBytesPerKey: number;
  readonly error: () => Error;
}

/** Limits the memory of all work together. `take` reserves memory until the work ends, and throws beyond the limit. */
export function limitMemory({ maxBytes, maxBytesPerKey, error }: MemoryLimit) {
  const heldByKey = new Map<string, number>();
  let total = 0;

  const heldBy = (key: string): number => heldByKey.get(key) ?? 0;

  function hold(key: string, bytes: number): void {
    total += bytes;
    const held = heldBy(key) + bytes;
    if (held === 0) heldByKey.delete(key);
    else heldByKey.set(key, held);
  }

  return async <T>(key: string, work: (take: (bytes: number) => void) => Promise<T>): Promise<T> => {
    let held = 0;
    function take(bytes: number): void {
      if (heldBy(key) + bytes > maxBytesPerKey || total + bytes > maxBytes) throw error();
      hold(key, bytes);
      held += bytes;
    }
    try {
      return await work(take);
    } finally {
      hold(key, -held);
    }
  };
}
