import { createServer } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { listenHere } from '../support/listen.ts';
import { fasterTime } from '../support/preload.ts';
import { type OneProcess, startOneProcess } from './one-process.ts';

/** A server that sends the next bytes for each request, and repeats the last ones after that. */
async function startAnsweringServer() {
  let answers: readonly string[] = [];
  let turn = 0;
  const server = createServer((socket) => {
    // A request is short, so its first chunk is enough: each connection serves one request.
    socket.once('data', () => {
      socket.end(answers[Math.min(turn, answers.length - 1)] ?? '', 'latin1');
      turn += 1;
    });
    socket.on('data', () => undefined);
  });
  const { port, close } = await listenHere(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close,
    /** Sets the responses; each character stands for a byte. */
    answerWith(given: readonly string[]) {
      answers = given;
      turn = 0;
    },
  };
}

/** Runs steps of the action in one process against an answering server, for the tests of one file. */
export function openAnsweredSteps() {
  let server: Awaited<ReturnType<typeof startAnsweringServer>>;
  let steps: OneProcess;
  beforeAll(async () => {
    server = await startAnsweringServer();
    server.answerWith(['HTTP/1.1 404 x\r\nconnection: close\r\n\r\n']);
    // Post-steps retry for 45 s, and steps retry transient errors many times.
    steps = startOneProcess({ NODE_OPTIONS: fasterTime(300) });
  });
  afterAll(async () => {
    await steps.end();
    await server.close();
  });
  return {
    baseUrl: () => server.baseUrl,
    answerWith: (answers: readonly string[]) => server.answerWith(answers),
    run: (...step: Parameters<OneProcess['run']>) => steps.run(...step),
  };
}
