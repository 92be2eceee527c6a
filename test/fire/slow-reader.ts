import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Listening, listenHere } from '../support/listen.ts';

/** The number of bytes per read. */
const mouthful = 64;

async function readSlowly(from: Socket, to: Socket, everyMs: number): Promise<void> {
  for (;;) {
    if (from.destroyed || to.destroyed) return;
    const bytes: unknown = from.read(Math.min(mouthful, from.readableLength || 1));
    if (Buffer.isBuffer(bytes)) to.write(bytes);
    await sleep(everyMs);
  }
}

/** A network where requests arrive a few bytes at a time; responses come back at normal speed. */
export function startSlowReader(towards: number, everyMs: number): Promise<Listening> {
  const server = createServer({ pauseOnConnect: true }, (incoming) => {
    const outgoing = connect(towards, '127.0.0.1');
    outgoing.on('error', () => undefined);
    outgoing.on('close', () => incoming.destroy());
    incoming.on('close', () => outgoing.destroy());
    // With a listener for this event, bytes wait until they are read.
    incoming.on('readable', () => undefined);
    incoming.on('end', () => outgoing.end());
    outgoing.pipe(incoming);
    readSlowly(incoming, outgoing, everyMs);
  });
  return listenHere(server);
}
