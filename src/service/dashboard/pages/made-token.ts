import { html } from 'hono/html';
import { Refusal } from '../../contract/problem.ts';
import { unsealed } from '../../sessions/secret.ts';
import { looksLikeTokenId } from '../../tokens/secret.ts';
import type { Token } from '../../tokens/tokens.ts';
import { plural } from '../assets/text.js';
import { copyable, type Markup, userText } from '../elements/text.ts';
import type { PageCall, View } from '../frame/page.ts';
import { shownScopes, shownWorkspaces } from './permissions.ts';
import { nextSteps } from './token-next-steps.ts';
import { shownEnd } from './tokens.ts';

/** Id of the future token, sealed in the form, so that sending the form twice creates one token. */
export function sealedTokenId({ c }: PageCall, sealedId: string): string | undefined {
  const id = unsealed(sealedId, c.get('session').secret);
  return id !== undefined && looksLikeTokenId(id) ? id : undefined;
}

export const unknownForm = (): Refusal =>
  new Refusal('malformed-request', 'This form is invalid or from another session. Open the page again.');

/** The public origin of the service, or otherwise the origin that the browser uses. */
export function serviceOrigin({ c }: PageCall, publicUrl: string | undefined): URL {
  if (publicUrl !== undefined) return new URL(publicUrl);
  const { origin = '' } = c.env.incoming.headers;
  if (/^https?:/.test(origin) && URL.canParse(origin)) return new URL(origin);
  throw new Refusal('malformed-request', 'The browser did not send the address of the service (Origin).');
}

export interface CreatedToken {
  /** The result as a sentence. */
  readonly done: Markup;
  readonly token: Token;
  readonly secret: string;
  /** Other active tokens of the owner, which can release its locks. */
  readonly othersOfOwner?: readonly Token[];
  /** See serviceOrigin(). */
  readonly origin: URL;
  /** A workspace that the token can see, if any. */
  readonly workspace: string | undefined;
  /** See NextSteps. */
  readonly preset?: string;
  readonly now: number;
}

/** The only page that ever shows the secret of the token. */
export function madeTokenView(made: CreatedToken): View {
  const { done, token, secret, othersOfOwner = [], origin, workspace, preset = '', now } = made;
  const main = html`
    <p class="notice" role="status">${done} <strong>Copy its secret now: it is never shown again.</strong></p>
    ${copyable('secret', 'the secret', html`<code id="secret" class="secret">${secret}</code>`)}
    ${sharedOwner(token, othersOfOwner)}
    <dl class="facts">
      <dt>Owner</dt><dd>${userText(token.owner)}</dd>
      <dt>Scopes</dt><dd>${shownScopes(token.scopes)}</dd>
      <dt>Workspaces</dt><dd>${shownWorkspaces(token.workspaces)}</dd>
      <dt>Expires</dt><dd>${shownEnd(token, now)}</dd>
    </dl>
    ${nextSteps({ token, origin, workspace, preset })}
    <p><a href="/tokens">All tokens</a></p>`;
  return { title: 'Copy this token', main };
}

const maxShownTokens = 5;

/** Warns about other tokens with the same owner, which may be a mistake. */
function sharedOwner({ owner }: Token, others: readonly Token[]): Markup | string {
  if (others.length === 0) return '';
  const names = others
    .slice(0, maxShownTokens)
    .map(({ name }, index) => html`${index === 0 ? '' : ', '}${userText(name)}`);
  const more = others.length - names.length;
  return html`<p class="warning">The owner ${userText(owner)} already has ${plural(others.length, 'other active token')}: ${names}${more > 0 ? ` and ${more} more` : ''}.
    Each of them can renew and release the locks of the others.</p>`;
}
