/** A response to a client about a path: its lock from then on, or that it has none. */
export interface Told {
  /** The request id of the response. */
  readonly request: string;
  readonly path: string;
  readonly lock: { readonly id: string; readonly fence: number } | null;
}

/** The responses to each client. Clients send the next request only after the previous response. */
export type Histories = readonly (readonly Told[])[];

/** The required content of a database after a power cut. */
export interface Owed {
  /** The possible lock ids by path, or null. There is only one unless a request was in progress. */
  readonly locks: ReadonlyMap<string, readonly (string | null)[]>;
  readonly highestFence: number;
  /** The number of granted locks, each with an idempotency key. */
  readonly given: number;
  readonly token: boolean;
}

export interface Promises {
  /** Reads bytes that the service sent. Returns whether they promise something. */
  hear(text: string): boolean;
  /** All promises so far; `now` means that the last of them was received at this very moment. */
  owed(now: boolean): Owed;
}

/** Tracks the promises of a service, given the final responses to its clients. */
export function followPromises(histories: Histories): Promises {
  const placeOf = new Map(
    histories.flatMap((history, client) =>
      history.map((told, index) => [told.request, { client, index, told }] as const),
    ),
  );
  const answered = histories.map(() => 0);
  const sure = new Map<string, string | null>(histories.flat().map(({ path }) => [path, null]));
  let highestFence = 0;
  let given = 0;
  let token = false;
  /** Clients that just got a response, and had no time to send another request. */
  let justAnswered = new Set<number>();

  return {
    hear(text) {
      justAnswered = new Set();
      if (text.includes('"event":"listening"')) {
        token = true;
        return true;
      }
      for (const [, request = ''] of text.matchAll(/^x-request-id: (\S+)\r?$/gm)) {
        const place = placeOf.get(request);
        if (place === undefined) continue;
        const { client, index, told } = place;
        justAnswered.add(client);
        answered[client] = index + 1;
        sure.set(told.path, told.lock?.id ?? null);
        if (told.lock === null) continue;
        given += 1;
        highestFence = Math.max(highestFence, told.lock.fence);
      }
      return justAnswered.size > 0;
    },
    owed(now) {
      const locks = new Map<string, (string | null)[]>([...sure].map(([path, lock]) => [path, [lock]]));
      for (const [client, history] of histories.entries()) {
        const next = history[answered[client] ?? 0];
        if (next !== undefined && !(now && justAnswered.has(client))) locks.get(next.path)?.push(next.lock?.id ?? null);
      }
      return { locks, highestFence, given, token };
    },
  };
}
