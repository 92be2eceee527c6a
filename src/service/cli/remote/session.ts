import { type Client, sleep, steadyClock } from '../../../client/client.ts';
import type { Entry } from '../../../locks/ledger/entry.ts';
import { openHistory } from '../../../locks/ledger/history.ts';
import { openLockSession } from '../../../locks/session.ts';

/** A session whose ledger is in memory, because a command has no later steps. */
export function openCommandSession(client: Client) {
  const ledger = openMemoryLedger();
  const step = crypto.randomUUID();
  const time = { clock: steadyClock, sleep, random: Math.random };
  const session = openLockSession({
    ...{ ...time, client, record: ledger.record, step },
    origin: undefined,
    announce: () => undefined,
  });
  return { session, step, ledger, time };
}

export type MemoryLedger = ReturnType<typeof openMemoryLedger>;

const lookEveryMs = 500;

function openMemoryLedger() {
  const unread: Entry[] = [];
  const history = openHistory();
  let onEntry: () => void = () => undefined;
  return {
    record(entry: Entry): void {
      history.add([entry]);
      unread.push(entry);
      onEntry();
    },
    follow: (): readonly Entry[] => unread.splice(0),
    read: history.read,
    watch(look: () => void): () => void {
      onEntry = () => queueMicrotask(look);
      const timer = setInterval(look, lookEveryMs);
      return () => clearInterval(timer);
    },
  };
}
