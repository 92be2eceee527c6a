/** Requests that are begun in one turn of the event loop, of all tokens together: about what one flush to disk costs. */
export const maxBegunPerTurn = 8;

/** Fulfilled when it is the turn of a request with this token. */
export type FairTurns = (tokenId: string) => Promise<void>;

/**
 * What a token asks over many connections at once arrives together, and would be worked on together while everything else
 * waits. So a few requests are begun in each turn of the event loop, by one token after the other, and whoever asks
 * little is next however much another asks. Nothing is kept once a request has begun: those that wait for a lock or for a
 * remote hold nobody up.
 */
export function createFairTurns(afterThisTurn: (work: () => void) => void = setImmediate): FairTurns {
  /** By token, in the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();
  let begun = 0;
  let isTurnOver = true;

  function beginNext(): void {
    const [next] = waiting;
    if (next === undefined) return;
    const [tokenId, requests] = next;
    requests.shift()?.();
    begun += 1;
    waiting.delete(tokenId);
    if (requests.length > 0) waiting.set(tokenId, requests);
  }

  function nextTurn(): void {
    begun = 0;
    while (begun < maxBegunPerTurn && waiting.size > 0) beginNext();
    isTurnOver = begun === 0;
    if (!isTurnOver) afterThisTurn(nextTurn);
  }

  return (tokenId) => {
    if (isTurnOver) {
      isTurnOver = false;
      begun = 0;
      afterThisTurn(nextTurn);
    }
    if (begun < maxBegunPerTurn) {
      begun += 1;
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const requests = waiting.get(tokenId);
    if (requests === undefined) waiting.set(tokenId, [resolve]);
    else requests.push(resolve);
    return promise;
  };
}
