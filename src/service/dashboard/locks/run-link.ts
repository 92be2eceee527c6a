import { html } from 'hono/html';
import { safeText } from '../../safe-text.ts';
import type { Markup } from '../elements/markup.ts';

/** Enough for `runs/1234567890/attempts/1`. */
const shownParts = 4;

/** The web address of a run, if it is one; without what would make it long. */
export function shortRun(origin: string): string | undefined {
  if (!URL.canParse(origin)) return undefined;
  const { protocol, host, pathname } = new URL(origin);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  const parts = pathname.split('/').filter((part) => part !== '');
  const shown = parts.slice(-shownParts).join('/');
  if (parts.length === 0) return host;
  return parts.length > shownParts ? `${host}/…/${shown}` : `${host}/${shown}`;
}

/** A row of the list keeps both elements, so that the browser can fill it with another lock. */
export function runLink(origin: string | null): Markup {
  const text = origin === null ? undefined : shortRun(origin);
  const unknown = text === undefined;
  return html`<a class="run" rel="noreferrer noopener" href="${unknown ? '' : origin}" title="${safeText(origin ?? '')}"${unknown ? html` hidden` : ''}><bdi>${safeText(text ?? '')}</bdi></a><span class="faint no-run"${unknown ? '' : html` hidden`}>unknown</span>`;
}
