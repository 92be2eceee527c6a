import pg from 'pg';
import type { Broadcast } from './storage.ts';

const channel = 'workspace_service';

/** Pause before the next attempt to listen, and between checks of the connection. */
const retryMs = 1_000;
const checkMs = 5_000;

/**
 * LISTEN and NOTIFY on a separate connection, opened for the first listener or message. NOTIFY is not part of the
 * transaction of the change: there, it would serialize all commits of the server.
 */
export function createPostgresBroadcast(url: string): Broadcast & { close(): Promise<void> } {
  const listeners = new Set<(message: string | undefined) => void>();
  let unsent: string[] = [];
  let sending: Promise<void> | undefined;
  let closed = false;
  const isNeeded = (): boolean => listeners.size > 0 && !closed;
  const connection = keepConnection(url, isNeeded, (message) => {
    for (const listener of listeners) listener(message);
  });

  async function sendAll(): Promise<void> {
    while (unsent.length > 0) {
      const messages = unsent;
      unsent = [];
      try {
        const client = await connection.open();
        const text = 'select pg_notify($1, value) from json_array_elements_text($2)';
        await client.query(text, [channel, JSON.stringify(messages)]);
      } catch {
        // Waiting clients then notice the change without the message, only later.
      }
    }
    sending = undefined;
  }

  return {
    send(message) {
      if (closed) return Promise.resolve();
      unsent.push(message);
      sending ??= sendAll();
      return sending;
    },
    listen(onMessage) {
      listeners.add(onMessage);
      if (listeners.size === 1) void connection.check();
      return () => {
        listeners.delete(onMessage);
        if (listeners.size === 0) connection.stopChecks();
      };
    },
    async close() {
      closed = true;
      connection.stopChecks();
      await sending;
      await connection.close();
    },
  };
}

/**
 * A connection that is lost, or silently cut by a proxy, is opened again while it is needed. Then `notify` is called
 * without a message, because messages may have been lost.
 */
function keepConnection(url: string, isNeeded: () => boolean, notify: (message: string | undefined) => void) {
  let connection: Promise<pg.Client> | undefined;
  let nextCheck: NodeJS.Timeout | undefined;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'workspace-service',
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
    });
    // Without a listener, the error would end the process. An `end` event follows it.
    client.on('error', () => undefined);
    client.on('notification', ({ payload = '' }) => notify(payload));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    return client;
  }

  function open(): Promise<pg.Client> {
    if (connection !== undefined) return connection;
    const opening = connect();
    const forget = (): void => {
      if (connection === opening) connection = undefined;
    };
    connection = opening;
    opening.then((client) => {
      client.once('end', () => {
        forget();
        if (isNeeded()) checkIn(retryMs);
      });
      // Messages that were sent before `listen` did not arrive.
      notify(undefined);
    }, forget);
    return opening;
  }

  async function close(): Promise<void> {
    const client = await connection?.catch(() => undefined);
    connection = undefined;
    await client?.end().catch(() => undefined);
  }

  function checkIn(ms: number): void {
    clearTimeout(nextCheck);
    nextCheck = setTimeout(() => void check(), ms);
  }

  async function check(): Promise<void> {
    try {
      // Times out if a proxy has silently cut the connection.
      await (await open()).query(`listen ${channel}`);
      if (isNeeded()) checkIn(checkMs);
    } catch {
      await close();
      if (!isNeeded()) return;
      notify(undefined);
      checkIn(retryMs);
    }
  }

  return { open, check, stopChecks: () => clearTimeout(nextCheck), close };
}
