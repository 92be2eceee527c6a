import { html } from 'hono/html';
import type { Scope } from '../../../interface/scopes.ts';
import type { Token } from '../../tokens/tokens.ts';
import { faint, literals, type Markup } from './text.ts';
import { time } from './time.ts';

export const shownScopes = (scopes: readonly Scope[]): Markup =>
  scopes.length === 0 ? faint('none') : literals(scopes);

export const shownWorkspaces = (workspaces: readonly string[] | null): Markup =>
  workspaces === null ? html`all` : literals(workspaces);

export const shownEnd = ({ expires_at }: Pick<Token, 'expires_at'>, now: number): Markup =>
  expires_at === null ? html`never` : time(expires_at, now);

export const shownLastUse = ({ last_used_at }: Pick<Token, 'last_used_at'>, now: number): Markup =>
  last_used_at === null ? faint('not yet') : time(last_used_at, now);
