import { STATUS_CODES } from 'node:http';
import { problemTypePrefix } from '../../../src/interface/problem.ts';
import type { Answer } from './other-server.ts';

type AnswerHeaders = Readonly<Record<string, string>>;

export const raw =
  (status: number, body: string | Uint8Array, headers: AnswerHeaders = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

export const json = (status: number, body: unknown, headers: AnswerHeaders = {}): Answer =>
  raw(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });

/** The type by which the client recognizes errors of the service itself. */
const ownType = `${problemTypePrefix}of-a-test`;

export const problem = (status: number, body: Readonly<Record<string, unknown>>, headers: AnswerHeaders = {}): Answer =>
  json(status, { type: ownType, status, ...body }, { 'content-type': 'application/problem+json', ...headers });

export const nothing = (status: number, headers: AnswerHeaders = {}): Answer => raw(status, '', headers);

/** An error page of a proxy, which is unaware of the API. */
export const page = (status: number, headers: AnswerHeaders = {}): Answer => {
  const title = `${status} ${STATUS_CODES[status]}`;
  const html = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>nginx/1.27.0</center>\r\n</body>\r\n</html>\r\n`;
  return raw(status, html, { 'content-type': 'text/html', ...headers });
};

/** Resets the connection instead of responding. */
export const reset: Answer = (response) => response.socket?.resetAndDestroy();

/** Ends the connection properly, but without a response. */
export const hangUp: Answer = (response) => response.socket?.end();

/** Never responds. */
export const silence: Answer = () => undefined;

/** Starts a response, and cuts the connection in the middle of the body. */
export const truncated =
  (status: number, begins: string, headers: AnswerHeaders = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': '10000', ...headers });
    response.write(begins, () => response.socket?.destroy());
  };

/** Sends this text unchanged on the connection, and ends it. */
export const say =
  (text: string | Uint8Array): Answer =>
  (response) => {
    response.socket?.end(text);
  };

/** Truncates a response without a length, where the end of the connection is the end of the body. */
export const truncatedUnseen = (status: number, begins: string): Answer =>
  say(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n${begins}`,
  );

/** Starts a response that never ends. */
export const stuck =
  (status: number, begins: string): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': '10000' });
    response.write(begins);
  };

/** Responds 200, one byte at a time, and never reaches the end of the head or of the body. */
export const drip =
  (part: 'head' | 'body'): Answer =>
  (response) => {
    if (part === 'head') response.socket?.write('HTTP/1.1 200 OK\r\nx-drip: ');
    else response.writeHead(200);
    const to = part === 'head' ? response.socket : response;
    const timer = setInterval(() => to?.write('.'), 10);
    response.once('close', () => clearInterval(timer));
  };

/** Responds 200 with an endless body, as fast as it is read. */
export const flood: Answer = (response) => {
  const piece = Buffer.alloc(64 * 1_024, '.');
  const pour = (): void => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', pour);
  };
  response.writeHead(200);
  pour();
};

/** Uses the next response for each request, and repeats the last one after that. */
export function inTurn(...answers: readonly [Answer, ...Answer[]]): Answer {
  let turn = 0;
  return (response, request) => {
    const answer = answers[Math.min(turn, answers.length - 1)];
    turn += 1;
    answer?.(response, request);
  };
}
