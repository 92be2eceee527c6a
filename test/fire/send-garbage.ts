import { once } from 'node:events';
import { connect } from 'node:net';
import type { Garbage } from './garbage.ts';

/** The whole text that came back, or why there was none. */
export type Sent =
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'closed' }
  | { readonly kind: 'left' }
  /** Neither an answer nor an end. */
  | { readonly kind: 'silent' };

const timeoutMs = 60_000;

/** Sends it over a connection of its own, and reads until the other side ends it. */
export async function sendGarbage(port: number, { pieces, leaves, expected }: Garbage): Promise<Sent> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.setNoDelay(true);
  // What the other side does to the connection is seen when it closes.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  let text = '';
  socket.setEncoding('latin1').on('data', (more: string) => {
    text += more;
  });
  socket.on('end', () => socket.end());
  for (const piece of pieces) {
    if (socket.destroyed) break;
    socket.write(piece);
    // Each is to arrive by itself.
    if (pieces.length > 1) await new Promise(setImmediate);
  }
  if (leaves !== undefined) {
    if (socket.connecting) await Promise.race([once(socket, 'connect').catch(() => undefined), closed]);
    if (leaves === 'reset') socket.resetAndDestroy();
    else socket.end();
    if (leaves === 'reset') return { kind: 'left' };
  }
  // What may be the beginning of a request is waited for: the end says that there is no more.
  else if (expected === 'unharmed') socket.end();
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<'too long'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'too long');
  });
  const outcome = await Promise.race([closed, tooLong]);
  clearTimeout(timer);
  socket.destroy();
  if (outcome === 'too long') return { kind: 'silent' };
  return text === '' ? { kind: 'closed' } : { kind: 'answered', text };
}
