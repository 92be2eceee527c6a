/** Lets the next one in. */
export type Leave = () => void;

/** Lets so many in at once; the others wait in the order in which they came. */
export function createGate(size: number): { enter(signal: AbortSignal): Promise<Leave | undefined> } {
  let free = size;
  const waiting = new Set<() => void>();

  function leaveOnce(): Leave {
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      const [next] = waiting;
      if (next === undefined) free += 1;
      else next();
    };
  }

  return {
    /** Undefined when the signal was aborted first. */
    async enter(signal) {
      if (signal.aborted) return undefined;
      if (free > 0) {
        free -= 1;
        return leaveOnce();
      }
      return new Promise((resolve) => {
        const giveUp = (): void => {
          waiting.delete(admit);
          resolve(undefined);
        };
        const admit = (): void => {
          waiting.delete(admit);
          signal.removeEventListener('abort', giveUp);
          resolve(leaveOnce());
        };
        waiting.add(admit);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}
