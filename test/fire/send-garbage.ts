import { once } from 'node:events';
import { connect } from 'node:net';
import type { Garbage } from './garbage.ts';

/** The complete text that came back, or the reason why there was none. */
export type Sent =
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'closed' }
  | { readonly kind: 'left' }
  /** Neither a response nor an end. */
  | { readonly kind: 'silent' };

const timeoutMs = 60_000;

/** Sends the pieces over a separate connection, and reads until the other side ends it. */
export async function sendGarbage(port: number, { pieces, leaves, expected }: Garbage): Promise<Sent> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.setNoDelay(true);
  // The actions of the other side become visible when the connection closes.
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
    // Each piece must arrive by itself.
    if (pieces.length > 1) await new Promise(setImmediate);
  }
  if (leaves !== undefined) {
    if (socket.connecting) await Promise.race([once(socket, 'connect').catch(() => undefined), closed]);
    if (leaves === 'reset') socket.resetAndDestroy();
    else socket.end();
    if (leaves === 'reset') return { kind: 'left' };
  }
  // The service waits for the rest of a possible request: the end of the stream shows that none follows.
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
