import { request as httpRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Answer } from './other-server.ts';
import { page, reset } from './responses.ts';

/** The fault that affects a response of another server. */
export type Fate = 'passed-on' | '502' | 'reset' | 'truncated';

/** Runs before a real service, which processes each request. The next fate then applies to its response. */
export function afterItsWork(toPort: number, ...fates: readonly Fate[]): Answer {
  const coming = [...fates];
  return (response, request) => {
    const { method, url, headers, body } = request;
    const fate = coming.shift() ?? 'passed-on';
    const onward = httpRequest({ host: '127.0.0.1', port: toPort, method, path: url, headers }, async (answer) => {
      const bytes = await buffer(answer);
      switch (fate) {
        case 'passed-on':
          response.writeHead(answer.statusCode ?? 500, answer.headers).end(bytes);
          return;
        case '502':
          page(502)(response, request);
          return;
        case 'reset':
          reset(response, request);
          return;
        case 'truncated':
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy());
      }
    });
    onward.end(body);
  };
}
