import { html } from 'hono/html';
import { formatDuration } from '../../../interface/duration.ts';
import type { Lock } from '../../../interface/resources.ts';
import { maxTtl } from '../../../interface/ttl.ts';
import { safeText, shortRun } from '../assets/text.js';
import { fullTime } from '../assets/time.js';
import { field } from './fields.ts';
import { faint, literal, type Markup, time, userText } from './text.ts';

/** A link to the run from which a lock was taken. */
export function originLink(origin: string | null, length: 'whole' | 'short'): Markup {
  const short = shortRun(origin);
  if (origin === null || short === undefined) return faint('unknown');
  return html`<a rel="noreferrer noopener" href="${origin}"><bdi>${safeText(length === 'short' ? short : origin)}</bdi></a>`;
}

/** A lock in full, to decide about. */
export const lockFacts = ({ path, owner, origin, note, acquired_at, expires_at }: Lock, now: number): Markup =>
  html`<dl class="facts">
    <dt>Path</dt><dd>${literal(path)}</dd>
    <dt>Holder</dt><dd>${userText(owner)}</dd>
    ${note === null ? '' : html`<dt>Note</dt><dd>${userText(note)}</dd>`}
    <dt>From run</dt><dd>${originLink(origin, 'whole')}</dd>
    <dt>Since</dt><dd>${time(acquired_at, now)} <span class="faint">(${fullTime(acquired_at)})</span></dd>
    <dt>Until</dt><dd>${time(expires_at, now)} <span class="faint">(${fullTime(expires_at)})</span></dd>
  </dl>`;

export interface TypedDuration {
  readonly text: string;
  readonly problem?: string | undefined;
}

/** How long a lock is to last. */
export const durationField = (title: string, { text, problem }: TypedDuration): Markup =>
  field({
    id: 'duration',
    title,
    problem,
    hint: `A whole number with m, h or d, such as 90m, 8h or 3d. At most ${formatDuration(maxTtl)}.`,
    control: (aria) =>
      html`<input id="duration" name="duration" value="${text}" required autocomplete="off" autocapitalize="none" spellcheck="false" size="8"${aria}>`,
  });
