import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listenHere } from '../../support/listen.ts';
import { measured } from '../../support/measured.ts';
import { say } from '../../support/other-servers/responses.ts';
import { deliverTo, failed, receiver } from './delivering.ts';

const early = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n';
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

/** A receiver that sends one text, and then another one forever, as fast as it is read. */
async function flood(first: string, thenForEver: string) {
  const { promise, resolve } = Promise.withResolvers<number>();
  const piece = thenForEver.repeat(Math.ceil(16_384 / thenForEver.length));
  const pour = (socket: Socket): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', () => pour(socket));
  };
  const server = createServer((socket) => {
    socket.once('close', () => resolve(socket.bytesWritten));
    socket.once('data', () => {
      socket.write(first);
      pour(socket);
    });
  });
  const { port, close } = await listenHere(server);
  onTestFinished(close);
  /** The number of bytes that a connection took before it was closed. */
  const sent = () => promise;
  return { url: `http://127.0.0.1:${port}/`, sent };
}

test.each([
  ['many interim responses', early.repeat(1_200)],
  ['a few long interim responses', `${early.slice(0, -2)}x: ${'x'.repeat(15_000)}\r\n\r\n`.repeat(5)],
])('%s fail the attempt, whatever response follows', async (_, interim) => {
  const to = await receiver();
  to.behave(say(interim + ok));
  const { reason } = failed(await deliverTo(to.url()));
  expect(reason).toContain('it sent more than 64 KB, and the connection was cut.');
});

const headers = 'HTTP/1.1 200 OK\r\n';
const chunked = `${headers}transfer-encoding: chunked\r\n\r\n`;
const cut = 'data sent by a receiver whose response never ends';

test.each([
  ['interim answers', '', early, 'it sent more than 64 KB, and the connection was cut.'],
  ['headers', headers, 'x: y\r\n', 'the connection failed (HPE_HEADER_OVERFLOW).'],
  ['one header', `${headers}x: `, 'y', 'the connection failed (HPE_HEADER_OVERFLOW).'],
])('a receiver that sends endless %s is cut off immediately', async (_, first, thenForEver, reason) => {
  const { url, sent } = await flood(first, thenForEver);
  expect(failed(await deliverTo(url)).reason).toBe(`The delivery to ${new URL(url).origin} failed: ${reason}`);
  measured(cut, (await sent()) / 1e6, { atMost: 8 });
});

test.each([
  ['body', chunked, `400\r\n${'.'.repeat(1_024)}\r\n`],
  ['one-byte chunks', chunked, '1\r\n.\r\n'],
  ['chunk extensions', `${chunked}1;`, 'x'],
])(
  'a receiver that sends endless %s after its status is cut off, and the delivery counts as successful',
  async (_, first, thenForEver) => {
    const { url, sent } = await flood(first, thenForEver);
    expect(await deliverTo(url)).toEqual({ kind: 'delivered' });
    measured(cut, (await sent()) / 1e6, { atMost: 8 });
  },
);
