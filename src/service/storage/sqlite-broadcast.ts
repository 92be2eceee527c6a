import type { DatabaseSync } from 'node:sqlite';
import type { Broadcast } from './broadcast.ts';

const lookEveryMs = 100;

/**
 * On SQLite there is one instance, and beside it commands that end soon. That one of them has changed something shows in
 * `data_version` of the connection that makes all changes of this process: it stays the same for those, and reading it
 * takes no look at the tables (https://www.sqlite.org/pragma.html#pragma_data_version).
 */
export function createSqliteBroadcast(writing: DatabaseSync): Broadcast {
  const statement = writing.prepare('pragma data_version');

  /** What cannot be read now, as on a disk that fails, is read the next time. */
  function versionAfter(known: unknown): unknown {
    try {
      return statement.get()?.['data_version'];
    } catch {
      return known;
    }
  }

  return {
    send: async () => undefined,
    listen(onMessage) {
      let known = versionAfter(undefined);
      const timer = setInterval(() => {
        if (!writing.isOpen) return clearInterval(timer);
        const version = versionAfter(known);
        if (version === known) return;
        known = version;
        onMessage(undefined);
      }, lookEveryMs);
      return () => clearInterval(timer);
    },
  };
}
