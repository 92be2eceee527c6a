import { html } from 'hono/html';
import type { Lock } from '../../../interface/resources.ts';
import { safeText } from '../../safe-text.ts';
import type { Markup } from '../elements/markup.ts';
import { given, literal } from '../elements/text.ts';
import { fullTime, time } from '../elements/time.ts';
import { shortRun } from './run-link.ts';

const runOf = (origin: string | null): Markup =>
  origin === null || shortRun(origin) === undefined
    ? html`<span class="faint">unknown</span>`
    : html`<a rel="noreferrer noopener" href="${origin}"><bdi>${safeText(origin)}</bdi></a>`;

/** A lock in full, for whoever has to decide about it. */
export const lockFacts = ({ path, owner, origin, acquired_at, expires_at }: Lock, now: number): Markup =>
  html`<dl class="facts">
    <dt>Path</dt><dd>${literal(path)}</dd>
    <dt>Holder</dt><dd>${given(owner)}</dd>
    <dt>From run</dt><dd>${runOf(origin)}</dd>
    <dt>Since</dt><dd>${time(acquired_at, now)} <span class="faint">(${fullTime(acquired_at)})</span></dd>
    <dt>Until</dt><dd>${time(expires_at, now)} <span class="faint">(${fullTime(expires_at)})</span></dd>
  </dl>`;
