import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Broadcast } from './storage.ts';

const channel = 'workspace_service';

/** Interval of checks of the connection. A lost connection is reopened. */
const checkMs = 1_000;

/**
 * LISTEN and NOTIFY on a separate connection, which the first listener or message opens. NOTIFY is not part of the
 * transaction of a change, where it would serialize all commits of the server.
 */
export function createPostgresBroadcast(url: string): Broadcast & { close(): Promise<void> } {
  const listeners = new Set<(message: string | undefined) => void>();
  let unsent: (string | undefined)[] = [];
  let sending: Promise<void> | undefined;
  let connection: Promise<pg.Client> | undefined;
  let checking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const notify = (message: string | undefined): void => {
    for (const listener of listeners) listener(message);
  };

  function open(): Promise<pg.Client> {
    if (connection !== undefined) return connection;
    const opening = connect(url, notify);
    const forget = (): void => {
      if (connection === opening) connection = undefined;
    };
    connection = opening;
    opening.then((client) => {
      client.once('end', forget);
      // Messages sent before this were missed.
      notify(undefined);
    }, forget);
    return opening;
  }

  async function close(): Promise<void> {
    const closing = connection;
    connection = undefined;
    const client = await closing?.catch(() => undefined);
    await client?.end().catch(() => undefined);
  }

  /** Times out if a proxy has silently cut the connection. */
  async function check(): Promise<void> {
    try {
      await (await open()).query(`listen ${channel}`);
    } catch {
      await close();
      notify(undefined);
    }
    checking = undefined;
  }

  async function sendAll(): Promise<void> {
    while (unsent.length > 0) {
      const messages = unsent;
      unsent = [];
      try {
        const client = await open();
        const text = 'select pg_notify($1, value) from json_array_elements_text($2)';
        await client.query(text, [channel, JSON.stringify(messages)]);
      } catch {
        // Some may not have arrived. Only senders know, and the first in line may wait at another instance.
        unsent = [undefined];
        await close();
        if (closed) break;
        await sleep(checkMs);
      }
    }
    sending = undefined;
  }

  return {
    send(message) {
      if (closed) return;
      unsent.push(message);
      sending ??= sendAll();
    },
    listen(onMessage) {
      listeners.add(onMessage);
      const checkAgain = (): void => {
        checking ??= check();
      };
      timer ??= setInterval(checkAgain, checkMs);
      checkAgain();
      return () => {
        listeners.delete(onMessage);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await Promise.all([sending, checking]);
      await close();
    },
  };
}

/** The event `end` reports the loss of the connection. */
async function connect(url: string, notify: (message: string | undefined) => void): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'workspace-service',
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
    keepAlive: true,
  });
  // Without a listener, the error event would end the process.
  client.on('error', () => undefined);
  let own: number | undefined;
  client.on('notification', ({ payload, processId }) => {
    if (processId !== own) notify(payload || undefined);
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ own: number }>('select pg_backend_pid() as own');
    own = rows[0]?.own;
    await client.query(`listen ${channel}`);
  } catch (error) {
    void client.end().catch(() => undefined);
    throw error;
  }
  return client;
}
