import { json, nothing, problem } from '../support/other-servers/answers.ts';
import type { Answer } from '../support/other-servers/other-server.ts';

/** A step of each operation, against whatever service the environment names. */
export const everyOperation: readonly Readonly<Record<string, string>>[] = [
  { operation: 'sync', branch: 'main', wait: '30s' },
  { operation: 'lock', path: 'a\nb' },
  { operation: 'unlock', path: 'a' },
  { operation: 'list-locks', 'fail-if-locked': 'true' },
  { operation: 'register-hook', 'hook-url': 'https://ci.example.com/hook' },
  { operation: 'list-workspaces' },
  { operation: 'list-branches' },
];

const headersOf = (text: string): Readonly<Record<string, string>> => {
  // What no header can have, no service can send.
  const value = text.replaceAll(/[^\x20-\x7e]/g, '');
  return {
    etag: `"${value.replaceAll('"', '')}"`,
    'x-request-id': value,
    'www-authenticate': `Bearer error="insufficient_scope", scope="${value.replaceAll('"', '')}"`,
    deprecation: value,
    sunset: value,
    link: `<https://other.example/${value}>; rel="deprecation"`,
    server: value,
  };
};

const fieldsOf = (text: string) => ({
  type: text,
  owner: text,
  origin: text,
  holder: { name: text },
  head: text,
  remote: text,
  comment: text,
  [text]: text,
});

/** A service that does what it is asked, and says the text wherever there is place for one. */
export const sayingEverywhere =
  (text: string): Answer =>
  (response, request) => {
    const { method, url } = request;
    const headers = headersOf(text);
    const fields = fieldsOf(text);
    const answers: readonly (readonly [RegExp, Answer])[] = [
      [
        /^POST .*\/sync$/,
        json(202, { ...fields, sync_id: text, status: text, branch: text }, { ...headers, location: '/v1/progress' }),
      ],
      [/^GET \/v1\/progress/, json(200, { ...fields, status: 'failed', error: text }, headers)],
      [/^POST .*\/locks$/, json(201, { ...fields, id: text, path: text }, headers)],
      [/^GET .*\/locks/, json(200, { locks: [{ ...fields, id: text, path: text }, text] }, headers)],
      [/^DELETE /, nothing(204, headers)],
      [/^POST .*\/hooks$/, json(201, { ...fields, id: text, secret: text }, headers)],
      [/^GET .*\/branches/, json(200, { branches: [{ ...fields, name: text, synced_head: text }, text] }, headers)],
      [/^GET .*\/workspaces/, json(200, { workspaces: [{ ...fields, id: text }, text] }, headers)],
    ];
    const [, answer] = answers.find(([which]) => which.test(`${method} ${url}`)) ?? [];
    (answer ?? nothing(404))(response, request);
  };

/** A service that refuses everything, with the text wherever there is place for one. */
export const refusingWith =
  (text: string): Answer =>
  (response, request) => {
    const status = request.url.endsWith('/locks') && request.method === 'POST' ? 409 : 403;
    const lock = { ...fieldsOf(text), path: text, id: text };
    const body = {
      title: text,
      detail: text,
      error: text,
      message: text,
      errors: [{ pointer: text, detail: text }],
      request_id: text,
      lock,
    };
    problem(status, body, headersOf(text))(response, request);
  };
