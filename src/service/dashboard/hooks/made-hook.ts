import { html } from 'hono/html';
import type { Hook, HookFormat } from '../../../interface/resources.ts';
import { shownUrl } from '../../webhooks/shown-request.ts';
import type { WebhookSecret } from '../../webhooks/signature.ts';
import { copied } from '../elements/copied.ts';
import type { Markup } from '../elements/markup.ts';
import { literal } from '../elements/text.ts';
import type { View } from '../layout.ts';
import { formatNames } from './words.ts';

const verification = `import { Webhook } from 'standardwebhooks';

// Throws when the delivery was not signed with the secret. The body has to be as it came, not parsed.
const event = new Webhook(process.env.WEBHOOK_SECRET).verify(body, headers);`;

function whatToDo(format: HookFormat): Markup {
  if (format !== 'standard') {
    return html`<p>${formatNames[format]} does not look at signatures, so there is nothing to do with it. Keep it only if something on
      the way there checks them.</p>`;
  }
  return html`<p>Give it to the receiver, as a secret of its own. With it, the receiver can tell our deliveries from those of
      anybody else: the header <code>webhook-signature</code> is checked by the libraries of
      <a href="https://www.standardwebhooks.com/" rel="noreferrer noopener">Standard Webhooks</a>, in most languages.</p>
    ${copied('verification', 'the lines', html`<pre id="verification">${verification}</pre>`)}`;
}

/** The only page that ever has the secret of a webhook. */
export function madeHookView(workspace: string, hook: Hook, secret: WebhookSecret): View {
  const main = html`
    <p class="notice" role="status">The webhook to ${literal(shownUrl(hook.url))} is registered. <strong>Keep its secret now: it is never shown again.</strong></p>
    ${copied('secret', 'the secret', html`<code id="secret" class="secret">${secret}</code>`)}
    ${whatToDo(hook.format)}
    <p>If it is lost, register the same address again with a secret that you make yourself.</p>
    <p><a href="/workspaces/${workspace}/hooks/${hook.id}">Go to the webhook and its deliveries</a></p>`;
  const place = { section: 'workspaces', workspace, tab: 'hooks' } as const;
  return { title: 'Keep this secret', place, main, styles: ['copied.css'] };
}
