/** Requests of the usual cost that are begun in one turn of the event loop: about what one flush to disk costs. */
export const maxPerTurn = 8;

/**
 * In a turn a single new connection is accepted (libuv's uv__server_io). Where one was, there may be more, so that up to so
 * many turns begin nothing: whoever opens connections all the time must not keep others from having theirs accepted.
 */
const maxTurnsForConnections = 32;

/** What one request has cost says something about the next one of its key, and not all. */
const weightOfLatest = 1 / 4;

export interface FairTurns {
  /** Begins a request with this key when it is its turn, unless it has left before. */
  wait(key: string, begin: () => void): Leave;
  /** A request with this key has cost as much as so many usual ones. */
  measured(key: string, cost: number): void;
  /** A connection was accepted. */
  connected(): void;
}

/** Gives a turn up that has not come yet. */
export type Leave = () => void;

/**
 * What one client asks over many connections at once arrives together, and would be worked on together while everything
 * else waits. So a few requests are begun in each turn of the event loop, by one key after the other, and whoever asks
 * little is next however much another asks. A key whose requests cost more has its turn more seldom where others wait, and
 * fewer of them are begun in a turn. Nothing is kept once a request has begun: those that wait for a lock or for a remote
 * hold nobody up.
 */
export function createFairTurns(afterThisTurn: (work: () => void) => void = setImmediate): FairTurns {
  /** By key, in the order of their turns. */
  const waiting = new Map<string, Set<{ readonly begin: () => void }>>();
  /** By key, of those whose requests do not cost what is usual. */
  const costs = new Map<string, number>();
  /** By key, how often others go first. */
  const debts = new Map<string, number>();
  /** What may still be begun in this turn. */
  let room = maxPerTurn;
  let isIdle = true;
  let hasConnected = false;
  let turnsForConnections = 0;

  const costOf = (key: string): number => costs.get(key) ?? 1;

  function letsOthersGoFirst(key: string): boolean {
    const debt = debts.get(key) ?? 0;
    if (debt >= 1 && waiting.size > 0) {
      debts.set(key, debt - 1);
      return true;
    }
    const cost = costOf(key);
    if (cost > 1) debts.set(key, cost - 1);
    else debts.delete(key);
    return false;
  }

  function visitNext(): void {
    const [next] = waiting;
    if (next === undefined) return;
    const [key, requests] = next;
    waiting.delete(key);
    if (!letsOthersGoFirst(key)) {
      room -= costOf(key);
      const [first] = requests;
      if (first !== undefined) requests.delete(first);
      first?.begin();
    }
    if (requests.size > 0) waiting.set(key, requests);
    else debts.delete(key);
  }

  function nextTurn(): void {
    isIdle = room === maxPerTurn && waiting.size === 0;
    if (isIdle) return;
    afterThisTurn(nextTurn);
    if (hasConnected && turnsForConnections < maxTurnsForConnections) {
      hasConnected = false;
      turnsForConnections += 1;
      return;
    }
    turnsForConnections = 0;
    room = Math.min(maxPerTurn, room + maxPerTurn);
    while (room > 0 && waiting.size > 0) visitNext();
  }

  return {
    wait(key, begin) {
      if (isIdle) {
        isIdle = false;
        afterThisTurn(nextTurn);
      }
      if (room > 0 && waiting.size === 0) {
        room -= costOf(key);
        begin();
        return () => undefined;
      }
      const requests = waiting.get(key) ?? new Set();
      const request = { begin };
      requests.add(request);
      waiting.set(key, requests);
      return () => {
        requests.delete(request);
        if (requests.size === 0 && waiting.get(key) === requests) waiting.delete(key);
      };
    },
    measured(key, cost) {
      const average = costOf(key) + weightOfLatest * (Math.max(1, cost) - costOf(key));
      // Close to what is usual, there is nothing to remember.
      if (average < 1.1) costs.delete(key);
      else costs.set(key, average);
    },
    connected() {
      hasConnected = true;
    },
  };
}
