/** Time that passes only from one event to the next, and as quickly as these can be worked off. */
export interface VirtualTime {
  /** In milliseconds since 1970. */
  readonly now: () => number;
  /** Gives what takes it back. */
  readonly after: (ms: number, what: () => void) => () => void;
  readonly sleep: (ms: number) => Promise<void>;
  /** Fulfils a promise: what follows from that happens at the same moment, before the next event. */
  readonly fulfil: <T>(resolve: (value: T) => void, value: T) => void;
  /** Lets everything happen that is due until then. */
  readonly runUntil: (end: number) => Promise<void>;
}

interface Event {
  readonly at: number;
  /** Of two events at the same time, the one that was planned first comes first. */
  readonly order: number;
  /** Undefined when it was taken back: what it would have used need not be kept for it. */
  what: (() => void) | undefined;
}

const isBefore = (one: Event, other: Event): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

function push(heap: Event[], event: Event): void {
  let place = heap.length;
  while (place > 0) {
    const above = (place - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isBefore(event, parent)) break;
    heap[place] = parent;
    place = above;
  }
  heap[place] = event;
}

/** Takes the first event of a binary heap. */
function pop(heap: Event[]): Event | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (last === undefined || last === first) return first;
  let place = 0;
  for (;;) {
    const below = 2 * place + 1;
    const [left, right] = [heap[below], heap[below + 1]];
    const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
    if (child === undefined || !isBefore(child, last)) break;
    heap[place] = child;
    place = child === right ? below + 1 : below;
  }
  heap[place] = last;
  return first;
}

/** Everything is set going by promises alone, so that nothing is left to do when all of their callbacks have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createVirtualTime(start: number): VirtualTime {
  const heap: Event[] = [];
  let now = start;
  let planned = 0;
  let woken = false;

  function after(ms: number, what: () => void): () => void {
    planned += 1;
    const event: Event = { at: now + Math.max(0, ms), order: planned, what };
    push(heap, event);
    return () => {
      event.what = undefined;
    };
  }

  function fulfil<T>(resolve: (value: T) => void, value: T): void {
    woken = true;
    resolve(value);
  }

  return {
    now: () => now,
    after,
    fulfil,
    sleep: (ms) => new Promise((resolve) => void after(ms, () => fulfil(resolve, undefined))),
    async runUntil(end) {
      await settled();
      while (heap[0] !== undefined && heap[0].at <= end) {
        const event = pop(heap);
        now = event?.at ?? now;
        woken = false;
        event?.what?.();
        if (woken) await settled();
      }
      now = end;
    },
  };
}
