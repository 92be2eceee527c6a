import type { Scope } from '../../interface/scopes.ts';

export const tokenPresets = {
  artist: { title: 'Artist', scopes: ['locks:write', 'contents:read'] },
  ci: { title: 'CI job', scopes: ['sync', 'locks:write'] },
  'read-only': { title: 'Read only', scopes: ['locks:read', 'contents:read'] },
  metrics: { title: 'Metrics', scopes: ['locks:read'] },
} as const satisfies Readonly<Record<string, { title: string; scopes: readonly Scope[] }>>;

export type TokenPresetName = keyof typeof tokenPresets;

export const isTokenPreset = (text: string): text is TokenPresetName => Object.hasOwn(tokenPresets, text);
