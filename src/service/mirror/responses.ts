import { problems } from '../../interface/problem.ts';
import type { ShowRefusal } from '../http/app.ts';
import { send } from '../http/context.ts';

const gitAddress = /^\/v1\/workspaces\/[^/]*\/git(?:\/|$)/;

/** Shows git what is wrong, and to everybody else shows it as before. */
export const asTextToGit =
  (showOthers: ShowRefusal): ShowRefusal =>
  (c, refusal) =>
    gitAddress.test(c.req.path) ? sendText(c, refusal) : showOthers(c, refusal);

/** git asks its credential helpers for a password after a challenge with Basic. */
const basic = 'Basic realm="workspace-service"';

/** git prints what is wrong where it comes as plain text (remote-curl.c, show_http_message), and nothing else. */
const sendText: ShowRefusal = (c, { problem, message, extras: { headers = {} } }) =>
  send(c, {
    status: problems[problem].status,
    headers: {
      ...headers,
      ...(problem === 'unauthorized' && { 'www-authenticate': basic }),
      'content-type': 'text/plain; charset=utf-8',
    },
    body: `${message}\n`,
  });
