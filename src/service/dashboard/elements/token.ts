import { html } from 'hono/html';
import type { Scope } from '../../../interface/scopes.ts';
import type { Token } from '../../tokens/tokens.ts';
import type { Markup } from './text.ts';
import { literal } from './text.ts';
import { time } from './time.ts';

const listed = (texts: readonly string[]): Markup =>
  html`${texts.map((text, index) => html`${index === 0 ? '' : ', '}${literal(text)}`)}`;

export const shownScopes = (scopes: readonly Scope[]): Markup =>
  scopes.length === 0 ? html`<span class="faint">none</span>` : listed(scopes);

export const shownWorkspaces = (workspaces: readonly string[] | null): Markup =>
  workspaces === null ? html`all` : listed(workspaces);

export const shownEnd = ({ expires_at }: Pick<Token, 'expires_at'>, now: number): Markup =>
  expires_at === null ? html`never` : time(expires_at, now);

export const shownLastUse = ({ last_used_at }: Pick<Token, 'last_used_at'>, now: number): Markup =>
  last_used_at === null ? html`<span class="faint">not yet</span>` : time(last_used_at, now);
