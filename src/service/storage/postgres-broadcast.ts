import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import type { Broadcast, Database } from './storage.ts';

const channel = 'workspace_service';

/** Interval of checks of the listening connection. A lost connection is reopened. */
const checkMs = 1_000;

/**
 * LISTEN on a separate connection, from the first listener on, and NOTIFY on those of queries. NOTIFY is not part of
 * the transaction of a change, where it would serialize all commits of the server.
 */
export function createPostgresBroadcast(url: string, db: Database): Broadcast & { close(): Promise<void> } {
  /** Each message starts with the id of its sender, which ignores it. */
  const own = randomUUID();
  const listeners = new Set<(message: string | undefined) => void>();
  const closing = new AbortController();
  const { signal } = closing;
  let unsent: (string | undefined)[] = [];
  let sending: Promise<void> | undefined;
  let listening: Promise<void> | undefined;

  const notify = (message: string | undefined): void => {
    for (const listener of listeners) listener(message);
  };

  const pause = (): Promise<void> => sleep(checkMs, undefined, { signal }).catch(() => undefined);

  async function sendAll(): Promise<void> {
    while (unsent.length > 0) {
      const messages = JSON.stringify(unsent.map((message) => own + (message ?? '')));
      unsent = [];
      try {
        await sql`select pg_notify(${channel}, value) from json_array_elements_text(${messages})`.execute(db);
      } catch {
        // Some may not have arrived. Only senders know, and the first in line may wait at another instance.
        unsent = [undefined];
        if (signal.aborted) break;
        await pause();
      }
    }
    sending = undefined;
  }

  async function listenAll(): Promise<void> {
    while (!signal.aborted) {
      const client = new pg.Client({
        connectionString: url,
        application_name: 'workspace-service',
        connectionTimeoutMillis: 5_000,
        query_timeout: 5_000,
        keepAlive: true,
      });
      // Without a listener, the error event would end the process.
      client.on('error', () => undefined);
      client.on('notification', ({ payload = '' }) => {
        if (!payload.startsWith(own)) notify(payload.slice(own.length) || undefined);
      });
      try {
        await client.connect();
        await client.query(`listen ${channel}`);
        // Messages sent before this were missed.
        notify(undefined);
        while (!signal.aborted) {
          await pause();
          // Times out if a proxy has silently cut the connection.
          await client.query(`listen ${channel}`);
        }
        await client.end();
      } catch {
        void client.end().catch(() => undefined);
        notify(undefined);
        await pause();
      }
    }
  }

  return {
    send(message) {
      if (signal.aborted) return;
      unsent.push(message);
      sending ??= sendAll();
    },
    listen(onMessage) {
      listeners.add(onMessage);
      listening ??= listenAll();
      return () => void listeners.delete(onMessage);
    },
    async close() {
      closing.abort();
      await Promise.all([sending, listening]);
    },
  };
}
