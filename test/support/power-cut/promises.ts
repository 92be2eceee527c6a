/** What a client was told of a path: the lock that is there from then on, or that there is none. */
export interface Told {
  /** The request id of the answer. */
  readonly request: string;
  readonly path: string;
  readonly lock: { readonly id: string; readonly fence: number } | null;
}

/** What was told to each client, which has sent the next request when it had the answer to the one before. */
export type Histories = readonly (readonly Told[])[];

/** What a database has to hold after a power cut. */
export interface Owed {
  /** By path: the ids of the locks that may be there, or null. It is one unless a request was under way. */
  readonly locks: ReadonlyMap<string, readonly (string | null)[]>;
  readonly highestFence: number;
  /** How many locks were given: each of them under a key. */
  readonly given: number;
  readonly token: boolean;
}

export interface Promises {
  /** Bytes that went out of the service. Gives whether they promise something. */
  hear(text: string): boolean;
  /** What is promised by all that was heard; `now` is whether the last of it was heard at this very moment. */
  owed(now: boolean): Owed;
}

/** Follows what a service says, knowing what its clients were told in the end. */
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
  /** At that moment they have had no time to send another request. */
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
