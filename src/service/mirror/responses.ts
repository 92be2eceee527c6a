import { problems } from '../../interface/problem.ts';
import type { RefusalRenderer } from '../http/app.ts';
import { send } from '../http/context.ts';

const gitPath = /^\/v1\/workspaces\/[^/]*\/git(?:\/|$)/;

/** Sends errors as text to git clients, and with `renderOther` to all others. */
export const asTextToGit =
  (renderOther: RefusalRenderer): RefusalRenderer =>
  (c, refusal) =>
    gitPath.test(c.req.path) ? sendText(c, refusal) : renderOther(c, refusal);

/** git asks its credential helpers for a password after a Basic challenge. */
const basic = 'Basic realm="workspace-service"';

/** git prints the body of an error only if it is plain text (remote-curl.c, show_http_message). */
const sendText: RefusalRenderer = (c, { problem, message, extras: { headers = {} } }) =>
  send(c, {
    status: problems[problem].status,
    headers: {
      ...headers,
      ...(problem === 'unauthorized' && { 'www-authenticate': basic }),
      'content-type': 'text/plain; charset=utf-8',
    },
    body: `${message}\n`,
  });
