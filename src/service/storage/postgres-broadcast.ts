import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Broadcast } from './storage.ts';

const channel = 'workspace_service';

/** Pause before the next attempt to listen, and between checks of the connection. */
const retryMs = 1_000;
const proofMs = 5_000;

const proofPrefix = 'proof ';

/**
 * LISTEN and NOTIFY on a separate connection, opened for the first listener or message. NOTIFY is not part of the
 * transaction of the change: there, it would serialize all commits of the server. A connection that is lost, or
 * silently cut by a proxy, is opened again, and listeners are called without a message, because messages may have been
 * lost.
 */
export function createPostgresBroadcast(url: string): Broadcast & { close(): Promise<void> } {
  const listeners = new Set<(message: string | undefined) => void>();
  let connection: Promise<pg.Client> | undefined;
  let unsent: string[] = [];
  let sending: Promise<void> | undefined;
  /** Message that checks the connection: sent to this process itself, and not received yet. */
  let unheardProof: { readonly text: string; readonly sentAt: number } | undefined;
  let upkeep: NodeJS.Timeout | undefined;
  let closed = false;

  function tell(message: string | undefined): void {
    for (const listener of listeners) listener(message);
  }

  function onNotification(payload: string): void {
    if (payload === unheardProof?.text) unheardProof = undefined;
    else if (!payload.startsWith(proofPrefix)) tell(payload);
  }

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
    client.on('notification', ({ payload = '' }) => onNotification(payload));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    return client;
  }

  function connected(): Promise<pg.Client> {
    if (connection !== undefined) return connection;
    const opening = connect();
    const forget = (): void => {
      if (connection === opening) connection = undefined;
    };
    connection = opening;
    unheardProof = undefined;
    opening.then((client) => {
      client.once('end', () => {
        forget();
        if (!closed && listeners.size > 0) keepUpIn(retryMs);
      });
      // Messages that were sent before `listen` did not arrive.
      tell(undefined);
    }, forget);
    return opening;
  }

  async function disconnect(): Promise<void> {
    const client = await connection?.catch(() => undefined);
    connection = undefined;
    await client?.end().catch(() => undefined);
  }

  function keepUpIn(ms: number): void {
    clearTimeout(upkeep);
    upkeep = setTimeout(() => void keepUp(), ms);
  }

  /** Keeps the connection open and checked while there are listeners. */
  async function keepUp(): Promise<void> {
    try {
      const client = await connected();
      if (unheardProof === undefined) {
        unheardProof = { text: `${proofPrefix}${randomUUID()}`, sentAt: performance.now() };
        await client.query('select pg_notify($1, $2)', [channel, unheardProof.text]);
      } else if (performance.now() - unheardProof.sentAt >= proofMs) {
        throw new Error('The connection receives no notifications.');
      }
      if (listeners.size > 0 && !closed) keepUpIn(proofMs);
    } catch {
      await disconnect();
      if (listeners.size === 0 || closed) return;
      tell(undefined);
      keepUpIn(retryMs);
    }
  }

  async function sendAll(): Promise<void> {
    while (unsent.length > 0) {
      const messages = unsent;
      unsent = [];
      try {
        const client = await connected();
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
      if (listeners.size === 1) void keepUp();
      return () => {
        listeners.delete(onMessage);
        if (listeners.size === 0) clearTimeout(upkeep);
      };
    },
    async close() {
      closed = true;
      clearTimeout(upkeep);
      await sending;
      await disconnect();
    },
  };
}
