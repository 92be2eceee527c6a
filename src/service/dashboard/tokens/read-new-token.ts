import type { Duration } from '../../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { isScope, type Scope } from '../../../interface/scopes.ts';
import { parseLifetime, parseTokenName, whyNotLimited } from '../../tokens/new-token.ts';
import type { NewToken } from '../../tokens/tokens.ts';
import { parseWorkspaceId } from '../../workspaces/workspace-id.ts';
import type { Form } from '../access/form.ts';

/** What the form has, as it was typed and chosen. */
export interface Typed {
  readonly name: string;
  readonly scopes: readonly string[];
  /** One of the presets, `other` or `never`. */
  readonly expires: string;
  /** Counts where `expires` is `other`. */
  readonly lifetime: string;
  /** `all` or `some`. */
  readonly reach: string;
  /** Count where `reach` is `some`. */
  readonly workspaces: readonly string[];
}

export const presets = ['30d', '90d', '365d'] as const;

export const untouched: Typed = { name: '', scopes: [], expires: '90d', lifetime: '', reach: 'all', workspaces: [] };

export const typedIn = (form: Form): Typed => ({
  name: form.text('name'),
  scopes: form.all('scope'),
  expires: form.text('expires'),
  lifetime: form.text('lifetime'),
  reach: form.text('reach'),
  workspaces: form.all('workspace'),
});

export const fields = ['name', 'scopes', 'expires', 'workspaces'] as const;

export type Field = (typeof fields)[number];

/** A sentence for each field that is wrong. */
export type Problems = Partial<Readonly<Record<Field, string>>>;

export type Reading =
  | { readonly kind: 'new-token'; readonly newToken: NewToken }
  | { readonly kind: 'wrong'; readonly problems: Problems };

function readScopes(texts: readonly string[]): Parsed<readonly Scope[]> {
  const scopes = [...new Set(texts.filter(isScope))];
  if (texts.some((text) => !isScope(text))) return refused('One of these scopes is not known. Choose again.');
  return scopes.length === 0 ? refused('Choose what the token may do.') : accepted(scopes);
}

function readLifetime({ expires, lifetime }: Typed): Parsed<Duration | null> {
  if (expires === 'never') return accepted(null);
  if (expires === 'other') return parseLifetime(lifetime.trim());
  const preset = presets.find((each) => each === expires);
  return preset === undefined ? refused('Choose when the token ends.') : parseLifetime(preset);
}

function readWorkspaces({ reach, workspaces }: Typed): Parsed<readonly string[] | null> {
  if (reach === 'all') return accepted(null);
  if (reach !== 'some') return refused('Choose the workspaces that the token sees.');
  if (workspaces.length === 0) return refused('Choose at least one workspace, or all of them.');
  const unfit = workspaces.map(parseWorkspaceId).find((id) => !id.ok);
  return unfit === undefined || unfit.ok ? accepted([...new Set(workspaces)]) : unfit;
}

const problemOf = (parsed: Parsed<unknown>): string | undefined => (parsed.ok ? undefined : parsed.why);

/** All that is wrong at once. */
export function readNewToken(typed: Typed): Reading {
  const name = parseTokenName(typed.name);
  const scopes = readScopes(typed.scopes);
  const lifetime = readLifetime(typed);
  const workspaces = readWorkspaces(typed);
  const limited = scopes.ok && workspaces.ok ? whyNotLimited(scopes.value, workspaces.value) : undefined;
  if (name.ok && scopes.ok && lifetime.ok && workspaces.ok && limited === undefined) {
    return {
      kind: 'new-token',
      newToken: { name: name.value, scopes: scopes.value, lifetime: lifetime.value, workspaces: workspaces.value },
    };
  }
  const all = {
    name: problemOf(name),
    scopes: problemOf(scopes),
    expires: problemOf(lifetime),
    workspaces: problemOf(workspaces) ?? (limited && `${limited} Let it see all, or choose other scopes.`),
  };
  const problems = fields.flatMap((field) => (all[field] === undefined ? [] : [[field, all[field]] as const]));
  return { kind: 'wrong', problems: Object.fromEntries(problems) };
}
