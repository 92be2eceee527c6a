import type { Database, Now, Storage } from './storage.ts';

interface Waiting<Question, Reply> {
  readonly question: Question;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * For data that almost every request needs: requests that arrive at the same time share one query. It runs after all of
 * them have arrived, so each gets current data. Nothing is cached.
 */
export function coalesceReads<Question, Reply>(
  ask: (db: Database, now: Now, questions: readonly Question[]) => Promise<readonly Reply[]>,
): (storage: Pick<Storage, 'read' | 'now'>, question: Question) => Promise<Reply> {
  const arrived = new WeakMap<Database, Waiting<Question, Reply>[]>();

  async function askAll({ read, now }: Pick<Storage, 'read' | 'now'>): Promise<void> {
    const waiting = arrived.get(read) ?? [];
    arrived.delete(read);
    try {
      // Without duplicates: requests with the same token ask the same question.
      const asked = [...Map.groupBy(waiting, ({ question }) => question)];
      const replies = await ask(
        read,
        now,
        asked.map(([question]) => question),
      );
      for (const [index, reply] of replies.entries()) {
        for (const { resolve } of asked[index]?.[1] ?? []) resolve(reply);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  return (storage, question) =>
    new Promise((resolve, reject) => {
      const one = { question, resolve, reject };
      const others = arrived.get(storage.read);
      if (others !== undefined) {
        others.push(one);
        return;
      }
      arrived.set(storage.read, [one]);
      setImmediate(askAll, storage);
    });
}
